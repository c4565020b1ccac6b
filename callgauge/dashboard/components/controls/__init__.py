"""Controls whose values live in the URL, editors, buttons and links."""
