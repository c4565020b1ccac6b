"""The morning report and the gate of a store."""
