"""Readers of requests, replies and messages in providers' API formats, which many producers' logs use."""
