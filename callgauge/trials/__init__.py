"""Many conversations that can be compared: models × prompts × definitions on the same tasks."""
