"""Worker pool: child processes read files before the writing process needs them."""
