"""Builds judged turns from events: the session builder, chains of attempts, the classification of calls."""
