"""Shares a page as a link, as Markdown, or as one HTML file."""
