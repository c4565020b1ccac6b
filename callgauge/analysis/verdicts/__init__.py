"""The sentences about a comparison or a ranking that pages, report, gate, API and MCP print."""
