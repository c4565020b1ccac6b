"""The questions that programs can ask: their parameters, and the functions that answer them from a store."""
