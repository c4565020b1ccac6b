"""Sign-in: the methods, the session that follows, and the sign-in pages."""
