"""What the morning report says: its data, and how a store makes it."""
