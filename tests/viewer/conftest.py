"""Fixtures of the viewer's tests."""

from tests.viewer.browser import browser

__all__ = ["browser"]
