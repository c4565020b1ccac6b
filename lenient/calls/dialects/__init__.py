"""The notations in which models write calls as text: one function per dialect, one module per family."""
