"""Rates over days: when rates changed, how much days differ, and which changes persist."""
