"""Reads one file: recognises its format, translates it, and resumes in a file that has grown."""
