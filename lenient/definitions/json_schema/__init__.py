"""Resolves, merges and compiles JSON Schemas to the nodes that arguments are checked against."""
