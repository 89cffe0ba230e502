"""Robots in the browser: one page for a live view, for a file to send, and for scenes inside reports."""
