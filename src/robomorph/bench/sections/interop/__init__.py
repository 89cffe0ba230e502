"""What other packages' arrays cost beside NumPy's."""
