"""The page Sessions: every session; one of them as a time line."""
