"""The page Overview: what works how well, what changed, and where it goes wrong."""
