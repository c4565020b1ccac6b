"""The content of the morning report: its data, and how it is computed from a store."""
