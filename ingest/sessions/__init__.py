"""Turns events into turns and calls, classifies the calls, and links each failed call to its retries."""
