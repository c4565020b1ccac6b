-- The memory of a team: one SQLite file beside the store's generations. Times are ISO 8601 in UTC, days are
-- YYYY-MM-DD, shares are 0 to 1.

CREATE TABLE acknowledgements (alert TEXT PRIMARY KEY, note TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL);

CREATE TABLE goals (rate TEXT PRIMARY KEY, goal REAL NOT NULL CHECK (goal BETWEEN 0 AND 1), by TEXT NOT NULL, at TEXT NOT NULL);

CREATE TABLE baselines (
  name TEXT PRIMARY KEY, first_day TEXT NOT NULL, last_day TEXT NOT NULL, by TEXT NOT NULL, at TEXT NOT NULL,
  CHECK (first_day <= last_day)
);

-- Per million tokens. `cached_input` and `cache_write` are NULL where they cost what other input costs.
CREATE TABLE prices (
  model TEXT, from_day TEXT, input REAL NOT NULL CHECK (input >= 0), output REAL NOT NULL CHECK (output >= 0),
  cached_input REAL CHECK (cached_input >= 0), cache_write REAL CHECK (cache_write >= 0),
  currency TEXT NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (model, from_day)
);
