"""What the sections about planning share: problems, independent checks, and how solves are timed."""
