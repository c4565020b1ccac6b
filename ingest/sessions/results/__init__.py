"""Finds out from the content of a result whether the tool call failed, and at which stage."""
