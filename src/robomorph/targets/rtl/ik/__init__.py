"""An inverse-kinematics accelerator: what its words mean, bit by bit, and the hardware that repeats it."""
