"""Running compiled kernels: the native launcher (`_native`) and the kernel cache on disk (`cache`)."""
