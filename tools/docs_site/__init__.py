"""The documentation as a site, and checks of its links."""
