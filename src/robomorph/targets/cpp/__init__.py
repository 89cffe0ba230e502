"""The C++ target: header-only kernels for a user's own controller, with a C interface and a CMake package."""
