"""What can be asked of a robot."""
