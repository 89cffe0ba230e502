"""From a robot and a request to a kernel for a target."""
