"""Sends the report: to webhooks and by mail, tried again where nothing arrived, and never twice."""
