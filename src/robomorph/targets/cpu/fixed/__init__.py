"""Fixed-point programs on the CPU: words in integer lanes."""
