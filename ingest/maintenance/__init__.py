"""Operations on a published store: forget sessions, judge calls again, list and retry rejects."""
