"""Reads one file: recognises the format, translates the records, and resumes when the file has grown."""
