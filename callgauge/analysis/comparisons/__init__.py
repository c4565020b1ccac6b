"""Compares and ranks the slices of a store by mix-adjusted rates."""
