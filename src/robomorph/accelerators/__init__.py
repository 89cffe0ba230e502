"""Studies of accelerators: accuracy by format, the space of designs, sparsity of the transforms."""
