"""The tab Stored calls of the page Playground: parse stored calls again with other settings."""
