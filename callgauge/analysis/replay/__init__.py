"""Replay: parses stored calls again under other definitions, codes or policies, in a separate process."""
