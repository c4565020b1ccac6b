"""What a page's address holds: its keys, and how days are written in it."""
