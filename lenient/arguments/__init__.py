"""Reads the arguments of one call: runs the stages in order and builds the result."""
