"""The intermediate representation: straight-line programs over a small table of operations."""
