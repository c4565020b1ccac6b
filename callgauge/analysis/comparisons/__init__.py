"""Slices of a store compared: what to ask for it, and both sides at the same mix of work."""
