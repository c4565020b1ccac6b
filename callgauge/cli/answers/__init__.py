"""Commands that answer a question from a store."""
