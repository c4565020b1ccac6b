"""Rates over days: when rates changed, how much rates vary between days, and which changes persist."""
