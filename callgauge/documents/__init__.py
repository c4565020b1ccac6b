"""Writes documents for people, as one HTML file or as Markdown, from plain data without Streamlit."""
