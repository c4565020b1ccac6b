"""Provides a scripted model behind the four APIs. The script decides the output, and each API formats it."""
