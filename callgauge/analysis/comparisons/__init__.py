"""Compares and ranks the slices of a store, mix-adjusted."""
