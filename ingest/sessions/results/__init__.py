"""Finds out from the text of a result whether its call failed, and at which stage. All formats use it."""
