"""The page Tools: which tools lose most calls, and at which parameter."""
