"""Functions that CasADi loads from a shared library: machine code, or C++ for a user's own compiler."""
