"""Send the report to webhooks and by mail: retried on failure, never sent twice."""
