-- title: Sessions with most faults
-- question: In which sessions went most calls wrong, and what were they about?
SELECT session_id, source, harness, task, started_at, turns, calls, faults
FROM sessions
WHERE NOT duplicate AND trial_run IS NULL AND faults > 0
ORDER BY faults DESC, session_id
LIMIT 100
