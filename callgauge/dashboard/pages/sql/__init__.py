"""The page SQL: A person's SQL, read-only."""
