"""The page Retries: what happens after a fault, and what it costs."""
