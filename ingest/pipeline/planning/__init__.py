"""Decides before anything is read: which files, in which order, with which definitions and labels."""
