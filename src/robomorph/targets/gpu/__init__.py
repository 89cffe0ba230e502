"""What the GPU targets share: the two mappings of a program to threads, and their source."""
