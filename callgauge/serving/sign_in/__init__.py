"""Sign-in: methods, sessions and sign-in pages."""
