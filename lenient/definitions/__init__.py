"""Tool definitions: read from any provider's shape or from Python functions, written for any provider."""
