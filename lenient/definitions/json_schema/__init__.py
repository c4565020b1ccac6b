"""JSON Schema: references, merging, and the compiled nodes that arguments are checked against."""
