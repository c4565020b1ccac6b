"""Functions that several dialects use to read replies, JSON values, Python calls and tagged parameters."""
