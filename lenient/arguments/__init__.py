"""Reads the arguments of one tool call: unwraps, repairs, converts and checks the arguments."""
