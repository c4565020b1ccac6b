"""Makes turns and tool calls from events, classifies the calls, and links each failed call to its retries."""
