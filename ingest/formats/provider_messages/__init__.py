"""Readers of requests, replies and messages in the formats of providers' APIs, which many logs contain."""
