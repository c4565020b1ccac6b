"""The notations in which models write calls as text: one function a dialect, one module a family."""
