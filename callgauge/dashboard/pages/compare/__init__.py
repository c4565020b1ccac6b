"""The page Compare: whether one slice is better than another."""
