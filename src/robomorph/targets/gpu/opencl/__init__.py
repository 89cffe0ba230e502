"""OpenCL: the same mappings in OpenCL C, run through pyopencl."""
