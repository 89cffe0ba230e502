"""CUDA: the same mappings in CUDA C++, compiled by NVRTC and run through the driver."""
