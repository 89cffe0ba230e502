"""Whether kernels are right: textbook formulas, finite differences, and the yardstick that compares."""
