"""Parses stored tool calls again with other definitions, codes or policies, in a separate process."""
