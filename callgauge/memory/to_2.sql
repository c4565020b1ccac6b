-- What the memory of a team holds from version 2 on. Times are ISO 8601 in UTC, days are YYYY-MM-DD; `slice` is a JSON
-- object of filters as a page's address has them (model, prompt, tool, source: lists of texts).

-- A baseline may be of a slice: only what its filters choose.
ALTER TABLE baselines ADD COLUMN slice TEXT NOT NULL DEFAULT '{}';

-- `query`: the filters of the address, after the question mark.
CREATE TABLE views (
  name TEXT, owner TEXT, page TEXT NOT NULL, query TEXT NOT NULL, shared INTEGER NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (owner, name)
);

-- `subject_kind`: day, model, prompt, tool, signature, session, call. `day`: where a mark on a trend stands, or NULL.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY, subject_kind TEXT NOT NULL, subject TEXT NOT NULL, day TEXT, text TEXT NOT NULL,
  by TEXT NOT NULL, at TEXT NOT NULL
);

-- `chosen`, `against`: slices; `figures`: the numbers of the comparison as they were, JSON; `link`: the page it was read on.
CREATE TABLE decisions (
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, reason TEXT NOT NULL, link TEXT NOT NULL, figures TEXT NOT NULL,
  by TEXT NOT NULL, at TEXT NOT NULL
);

-- `kind`: above or below `bound` (a share), or changed, beyond the day-to-day spread by `bound` (a share).
CREATE TABLE alert_rules (
  name TEXT PRIMARY KEY, rate TEXT NOT NULL, slice TEXT NOT NULL, kind TEXT NOT NULL, bound REAL NOT NULL,
  muted_until TEXT, by TEXT NOT NULL, at TEXT NOT NULL
);

-- `state`: known, being fixed, fixed (in `fixed_in`, from `fixed_day` on); no row is new.
CREATE TABLE signature_states (
  signature TEXT PRIMARY KEY, state TEXT NOT NULL, fixed_in TEXT NOT NULL, fixed_day TEXT, note TEXT NOT NULL,
  by TEXT NOT NULL, at TEXT NOT NULL
);

-- One row for each step of a night that began: load, retention, backup, report. `outcome`: done, failed, skipped,
-- stopped (by a signal), broken off (its process was killed); NULL while it runs. `told`: JSON.
CREATE TABLE night_steps (
  night TEXT, step TEXT, began TEXT NOT NULL, ended TEXT, outcome TEXT, told TEXT NOT NULL,
  PRIMARY KEY (night, step)
);

-- The sources of callgauge.toml as their last load found them. `newest`: the time of their newest data, NULL where none
-- came yet; `first_seen`, `looked`: their first and last load; `silent_after`: days without data that are too many, NULL
-- never; `problem`: why the last load of it failed, empty where it did not.
CREATE TABLE source_states (
  name TEXT PRIMARY KEY, newest TEXT, first_seen TEXT NOT NULL, looked TEXT NOT NULL, silent_after REAL,
  problem TEXT NOT NULL
);

-- What was sent, so that nothing is sent twice. `report`: the night it tells of; `channel`: where it went.
CREATE TABLE deliveries (report TEXT, channel TEXT, at TEXT NOT NULL, PRIMARY KEY (report, channel));

-- Keys of programs that read; only a hash of each is kept.
CREATE TABLE tokens (
  name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, role TEXT NOT NULL, expires TEXT, by TEXT NOT NULL, at TEXT NOT NULL
);
