"""The page Calls: every call; one of them in full."""
