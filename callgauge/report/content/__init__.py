"""The content of the morning report: its data classes, and the code that computes it from a store."""
