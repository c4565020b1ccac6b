"""Turns events into turns and tool calls, classifies the calls, and links each failed call to its retries."""
