"""Files that people write (plans, tasks, configuration): typed fields, mistakes by line, JSON Schemas."""
