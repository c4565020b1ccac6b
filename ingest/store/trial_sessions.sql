-- Copies the trial run and the variant of a session to all rows of the session, because only one of its files may name them. If
-- several files name a run, the file with the lowest id counts.

CREATE TEMP TABLE trial_of_session AS
SELECT
    source, session_id, arg_min(trial_run, file_id) AS trial_run,
    arg_min(arm, file_id) FILTER (trial_run IS NOT NULL) AS arm
FROM sessions WHERE (source, session_id) IN (FROM touched_sessions)
GROUP BY ALL HAVING count(trial_run) > 0;

UPDATE sessions SET trial_run = o.trial_run, arm = o.arm FROM trial_of_session o
WHERE (sessions.source, sessions.session_id) = (o.source, o.session_id)
    AND (sessions.trial_run, sessions.arm) IS DISTINCT FROM (o.trial_run, o.arm);
UPDATE turns SET trial_run = o.trial_run, arm = o.arm FROM trial_of_session o
WHERE (turns.source, turns.session_id) = (o.source, o.session_id)
    AND (turns.trial_run, turns.arm) IS DISTINCT FROM (o.trial_run, o.arm);
UPDATE turn_parts SET trial_run = o.trial_run, arm = o.arm FROM trial_of_session o
WHERE (turn_parts.source, turn_parts.session_id) = (o.source, o.session_id)
    AND (turn_parts.trial_run, turn_parts.arm) IS DISTINCT FROM (o.trial_run, o.arm);
UPDATE tool_calls SET trial_run = o.trial_run, arm = o.arm FROM trial_of_session o
WHERE (tool_calls.source, tool_calls.session_id) = (o.source, o.session_id)
    AND (tool_calls.trial_run, tool_calls.arm) IS DISTINCT FROM (o.trial_run, o.arm);
UPDATE probes SET trial_run = o.trial_run, arm = o.arm FROM trial_of_session o
WHERE (probes.source, probes.session_id) = (o.source, o.session_id)
    AND (probes.trial_run, probes.arm) IS DISTINCT FROM (o.trial_run, o.arm);

DROP TABLE trial_of_session;
