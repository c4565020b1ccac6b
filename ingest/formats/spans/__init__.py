"""Data classes and readers for the spans of traces, before and after their attributes are interpreted."""
