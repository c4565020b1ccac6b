"""Reads the bytes of logs from files, archives, object stores and standard input."""
