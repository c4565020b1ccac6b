-- Counts what `callgauge forget` deletes: the sessions in `leaving` (source, session_id) and their rows.
-- - elsewhere: deleted calls of which another session keeps a copy
-- - undated: sessions of the store without a time, which --before never selects
SELECT
    (SELECT count(*) FROM leaving) AS sessions,
    (SELECT count(*) FROM stored_turns SEMI JOIN leaving USING (source, session_id)) AS turns,
    (SELECT count(*) FROM stored_tool_calls SEMI JOIN leaving USING (source, session_id)) AS calls,
    (SELECT count(DISTINCT run) FROM leaving_runs) AS runs,
    (SELECT count(DISTINCT file_id) FROM stored_sessions SEMI JOIN leaving USING (source, session_id)) AS files,
    (
        SELECT count(DISTINCT call_id) FROM stored_tool_calls ANTI JOIN leaving USING (source, session_id)
        WHERE call_id IN (SELECT call_id FROM stored_tool_calls SEMI JOIN leaving USING (source, session_id))
    ) AS elsewhere,
    (
        SELECT count(DISTINCT (source, session_id)) FROM stored_sessions
        WHERE ended_at IS NULL AND started_at IS NULL
    ) AS undated;
