"""Operations on a published store: delete sessions, judge calls again, list rejects and read them again."""
