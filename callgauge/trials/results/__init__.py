"""Reads and writes the folder of a trial run, and decides whether a trial succeeded."""
