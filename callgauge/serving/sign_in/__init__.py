"""Sign-in: who comes in by which method, the session that follows, and the page that asks."""
