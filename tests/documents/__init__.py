"""Tests of documents that are made from plain data: HTML, Markdown, SVG."""
