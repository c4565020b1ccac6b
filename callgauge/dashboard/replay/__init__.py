"""Replay: stored calls parsed again under other definitions, codes or policies, in a process of its own."""
