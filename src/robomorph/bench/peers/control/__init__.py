"""Peers of model predictive control. They run in an interpreter of their own, as their packages bind versions
of Pinocchio that differ from ours: `serve.py` and the `*_worker.py` beside it know nothing of robomorph."""
