"""The questions that programs can ask: their parameters, and how a published store file answers them."""
