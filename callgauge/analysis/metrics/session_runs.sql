-- title: Experiment runs
-- question: Which experiment runs have sessions in the store?
-- unit: one row per run, newest first
-- note: The run of a session comes from the path of its file; see the option --from-path.
SELECT run, count(*)::BIGINT AS sessions FROM sessions
WHERE run IS NOT NULL AND {filters: trials} AND NOT coalesce(duplicate, false)
GROUP BY run
ORDER BY max(started_at) DESC NULLS LAST, run
LIMIT 100
