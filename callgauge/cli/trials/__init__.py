"""Commands of `callgauge trial` that make files."""
