"""From bytes to records: lines, documents, event streams, and the decoded object that each holds."""
