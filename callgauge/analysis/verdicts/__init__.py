"""The sentences that a page, the report, the gate, the API and MCP print of a comparison or a ranking."""
