"""The content of the morning report: the data classes, and the code that computes them from a store."""
