"""From events to judged turns: the session builder, attempt chains, and the classification of each call."""
