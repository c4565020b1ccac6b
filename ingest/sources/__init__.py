"""Where the bytes of a log come from: files, archives, object stores, standard input; knows no format."""
