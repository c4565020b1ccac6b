"""Compares slices of a store, mix-adjusted, and ranks them."""
