-- Counts what the sessions in `leaving` and `textless` (source, session_id) lose. `undated`: sessions without a day, or with
-- turns or calls without a day.
SELECT
    (SELECT count(*) FROM leaving) AS sessions_removed,
    (SELECT count(*) FROM stored_turns SEMI JOIN leaving USING (source, session_id)) AS turns_removed,
    (SELECT count(*) FROM stored_tool_calls SEMI JOIN leaving USING (source, session_id)) AS calls_removed,
    (SELECT count(*) FROM textless) AS sessions_without_text,
    (SELECT count(*) FROM stored_tool_calls SEMI JOIN textless USING (source, session_id)) AS calls_without_text,
    (SELECT count(*) FROM old_rejects) AS quotes_removed,
    (SELECT count(*) FROM last_events WHERE day IS NULL OR dayless) AS undated;
