"""Decides before the reading which files are read, in which order, with which definitions and labels."""
