"""The tab Stored calls of the page Playground, which parses stored calls again with other settings."""
