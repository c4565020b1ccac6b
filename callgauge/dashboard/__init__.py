"""The dashboard: pages that show the published store file, and the queries of these pages."""
