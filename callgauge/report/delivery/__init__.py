"""Sends the report to webhooks and by mail. A failed attempt is repeated, but no report is sent twice."""
