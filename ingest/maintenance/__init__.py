"""Operations on a published store: delete sessions, judge calls again, list and retry rejects."""
