"""Conversations as events: turns of agent sessions, of repeated requests, and of benchmark attempts."""
