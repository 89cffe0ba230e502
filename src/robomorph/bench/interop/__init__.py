"""What the sections about bridges measure."""
