"""Tests of documents in HTML, Markdown and SVG."""
