"""Reads one file: recognises its format, translates it, and resumes the reading of a file that has grown."""
