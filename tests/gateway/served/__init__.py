"""Provides a scripted model behind the four APIs. The brain decides the output, and each API formats it."""
