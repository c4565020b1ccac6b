"""Reads the arguments of one call: unwraps, repairs, converts and checks them."""
