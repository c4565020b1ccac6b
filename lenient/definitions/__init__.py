"""Tool definitions: read from and written to every provider's shape, and from Python functions."""
