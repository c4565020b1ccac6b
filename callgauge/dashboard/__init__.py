"""The dashboard: queries and pages that show a published generation of the store in a browser."""
