"""What keeps a store right between loads: forget, reparse, retry what was rejected."""
