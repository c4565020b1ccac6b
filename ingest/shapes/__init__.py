"""What several formats share: how messages, content blocks and streams of one vendor become events."""
