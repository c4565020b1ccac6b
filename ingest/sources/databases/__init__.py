"""Reads SQLite databases as JSON Lines. The .sql files define the tables and the order of rows."""
