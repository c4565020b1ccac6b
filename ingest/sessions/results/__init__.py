"""Reads from the text of a result whether its call failed, and at which stage, for all formats alike."""
