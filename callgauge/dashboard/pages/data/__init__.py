"""The page Data: what was loaded and rejected, and what each source cannot tell."""
