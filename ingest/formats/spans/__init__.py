"""Spans of traces as files hold them, before and after their attributes are understood."""
