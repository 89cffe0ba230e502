"""What the sections about model predictive control share: problems as data, and an independent referee."""
