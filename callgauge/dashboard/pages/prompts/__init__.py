"""The page Prompts: what each version of a prompt changed."""
