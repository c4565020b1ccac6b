-- title: Turns judged differently
-- question: In which turns do the log's own verdict and ours differ?
SELECT ts, model, session_id, turn, recorded_status, recorded_ok, derived_ok, derived_reason, left(user_text, 120) AS asked
FROM turns
WHERE NOT duplicate AND trial_run IS NULL AND recorded_ok <> derived_ok
ORDER BY ts DESC
LIMIT 200
