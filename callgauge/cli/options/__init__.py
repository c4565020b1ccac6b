"""Options that commands of all kinds have."""
