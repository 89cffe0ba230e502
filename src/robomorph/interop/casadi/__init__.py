"""Robots as CasADi functions: machine code that CasADi loads, or expressions where that is not to be had."""
