"""Reading by programs: the HTTP API and the MCP server, which give the numbers of the pages."""
