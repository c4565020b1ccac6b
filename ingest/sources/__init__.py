"""Where the bytes of a log come from: files, archives, object stores and standard input."""
