"""The dashboard: queries and pages that show the published store file."""
