"""Finds out from the text of a result whether the tool call failed, and at which stage.

All formats use this package.
"""
