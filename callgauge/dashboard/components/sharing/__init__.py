"""Sharing of a page: a link, Markdown, or one HTML file."""
