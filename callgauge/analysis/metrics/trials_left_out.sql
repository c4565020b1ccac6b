-- title: Trials that are not counted
-- question: How many trial sessions does the page leave out because no run is selected?
-- unit: one row: number of sessions and of runs; 0 if a run or variant is selected
-- note: A trial is a session whose log names its trial run. A trial is an experiment, so it never counts in the rates of real use.
SELECT count(*)::BIGINT AS sessions, count(DISTINCT trial_run)::BIGINT AS runs FROM sessions
WHERE trial_run IS NOT NULL AND $runs IS NULL AND $arms IS NULL AND NOT coalesce(duplicate, false)
  AND ($from_day IS NULL OR greatest(day, ended_at::DATE) >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
