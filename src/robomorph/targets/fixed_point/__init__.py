"""A function in fixed point: which numbers it is computed in, and the program that defines every bit. What
chips and CPUs make of it is theirs."""
