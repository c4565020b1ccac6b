-- Run after latest_facts.sql, until it finds no session. Adds the sessions that have a call or turn of the sessions found last.
INSERT INTO concerned_sessions
WITH
    found AS (
        SELECT source, session_id FROM searched_tool_calls SEMI JOIN latest_calls USING (call_id)
        UNION
        SELECT source, session_id FROM searched_turns SEMI JOIN latest_turns USING (turn_id)
    )
SELECT source, session_id, (SELECT max(round) + 1 FROM concerned_sessions)
FROM found ANTI JOIN concerned_sessions USING (source, session_id);
