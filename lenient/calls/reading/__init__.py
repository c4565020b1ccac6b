"""Readers that several dialects share: model text, JSON values, Python calls and tagged parameters."""
