"""Functions as CasADi loads them from a shared library: machine code made here, or C++ for a user's compiler."""
