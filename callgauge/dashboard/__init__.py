"""The dashboard: queries and pages that show the published generation of the store."""
