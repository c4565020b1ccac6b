"""The questions that programs can ask: their parameters, and their answers from one generation."""
