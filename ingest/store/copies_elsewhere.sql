-- After concerned.sql, until it finds none: sessions with a call or turn of those that were found last.
INSERT INTO concerned_sessions
WITH
    latest AS (
        SELECT file_id, source, session_id FROM stored_sessions
        SEMI JOIN (FROM concerned_sessions WHERE round = (SELECT max(round) FROM concerned_sessions))
        USING (source, session_id)
    ),
    calls AS (SELECT DISTINCT call_id FROM stored_tool_calls SEMI JOIN latest USING (file_id, source, session_id)),
    told AS (SELECT DISTINCT turn_id FROM stored_turns SEMI JOIN latest USING (file_id, source, session_id)),
    found AS (
        SELECT source, session_id FROM stored_tool_calls SEMI JOIN calls USING (call_id)
        UNION
        SELECT source, session_id FROM stored_turns SEMI JOIN told USING (turn_id)
    )
SELECT source, session_id, (SELECT max(round) + 1 FROM concerned_sessions)
FROM found ANTI JOIN concerned_sessions USING (source, session_id);
