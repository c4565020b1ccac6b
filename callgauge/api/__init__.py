"""The HTTP API and the MCP server, which give programs the same numbers as the pages."""
