"""Reads SQLite databases as JSON Lines; the .sql files say which tables, and in what order."""
