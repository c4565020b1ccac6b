"""The questions that programs may ask: their parameters, and their answers from one generation."""
