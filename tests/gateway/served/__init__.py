"""Provides a scripted model behind the four APIs: the brain decides the output, each API formats it."""
