"""Decisions and notes of the team on pages, and the forms that change them."""
