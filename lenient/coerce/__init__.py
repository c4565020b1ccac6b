"""Converts decoded values to the declared types and checks them against the definition."""
