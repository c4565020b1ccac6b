"""Sends the report to webhooks and by mail.

A failed attempt is repeated, but never if the report may have arrived.
"""
