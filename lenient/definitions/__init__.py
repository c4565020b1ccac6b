"""Tool definitions: read from any provider's format or from Python functions, written for any provider."""
