"""Sends the report to webhooks and by mail.

A failed attempt is repeated only if the report certainly did not arrive.
"""
