-- title: Runs
-- question: Of which runs of an experiment are sessions in the store?
-- unit: one row a run, the newest first
-- note: The run of a session is what the path of its file says, see --from-path.
SELECT run, count(*)::BIGINT AS sessions FROM sessions
WHERE run IS NOT NULL AND {filters: trials} AND NOT coalesce(duplicate, false)
GROUP BY run
ORDER BY max(started_at) DESC NULLS LAST, run
LIMIT 100
