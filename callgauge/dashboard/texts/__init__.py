"""Texts made for people and links: marked, compared, packed into a URL, written as SQL."""
