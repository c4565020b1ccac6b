"""The page Playground: what the parser makes of a text and a definition."""
