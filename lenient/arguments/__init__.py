"""Reads the arguments of one call: the stages in order, and the result."""
