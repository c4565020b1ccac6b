"""A scripted model behind the four wires: a brain says what the model emits, the wires dress it."""
