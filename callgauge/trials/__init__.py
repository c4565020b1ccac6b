"""Runs the same tasks with several models, prompts and tool definitions, and compares the results."""
