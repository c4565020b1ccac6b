"""Every question about a store, without Streamlit: metrics, measures, comparisons and wording.

The dashboard, the report, the gate, the API, MCP and monitoring show what this package answers.
"""
