"""Parts of chips that solve inverse kinematics: what each computes, bit by bit, and its hardware."""
