"""Requests, replies and messages as providers' APIs spell them, which logs of many producers repeat."""
