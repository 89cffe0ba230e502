"""`robomorph bench`: what our kernels cost on this machine, beside every other library that is installed."""
