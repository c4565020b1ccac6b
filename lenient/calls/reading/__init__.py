"""Functions that several dialects use to read model text, JSON values, Python calls and tagged parameters."""
