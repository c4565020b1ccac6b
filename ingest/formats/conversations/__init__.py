"""Translators of conversations into events: agent sessions, repeated requests, benchmark attempts."""
