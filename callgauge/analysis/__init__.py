"""Answers questions about a store: metrics, measures, comparisons and their wording.

The dashboard, the report, the gate, the API, MCP and monitoring show the answers of this package.
"""
