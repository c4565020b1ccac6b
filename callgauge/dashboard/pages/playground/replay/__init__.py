"""The tab Stored calls of the page Playground: parses stored calls again under other settings."""
