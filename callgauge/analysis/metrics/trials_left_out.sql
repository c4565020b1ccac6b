-- title: Trials that are not counted
-- question: How many sessions of trials does the page leave out, as no run is chosen?
-- unit: one row: sessions and runs; 0 where a run or an arm is chosen
-- note: A trial is a session whose own log says of which run it is. It shows what would happen, so it never counts among what happened.
SELECT count(*)::BIGINT AS sessions, count(DISTINCT trial_run)::BIGINT AS runs FROM sessions
WHERE trial_run IS NOT NULL AND $runs IS NULL AND $arms IS NULL AND NOT coalesce(duplicate, false)
  AND ($from_day IS NULL OR greatest(day, ended_at::DATE) >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
