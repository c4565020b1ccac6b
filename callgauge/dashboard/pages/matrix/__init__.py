"""The page Matrix: one rate for each pair of model, prompt and tool."""
