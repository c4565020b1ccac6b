"""Reads SQLite databases as JSON Lines; the .sql files define the tables and the order."""
