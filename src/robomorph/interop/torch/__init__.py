"""The bridge to Torch; its face is `robomorph.torch`."""
