"""The HTTP API and the MCP server: the same numbers as on the pages, for programs."""
