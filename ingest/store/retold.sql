-- After touched.sql: the rows of earlier contents that newer ones tell again go; a content of which no session is left
-- joins `replaced`. The run counts what went, and what --replace takes out (`removed_contents`: old, new).

CREATE TEMP TABLE retold_calls AS
SELECT c.call_id, c.file_id, c.source, c.session_id FROM tool_calls c
WHERE (c.file_id, c.source, c.session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    OR (c.file_id, c.turn_id) IN (SELECT (old, turn_id) FROM retold_turns);

DELETE FROM rejects USING late_results l
WHERE rejects.code = 'orphan_result'
    AND (l.file_id, l.source, l.session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    AND (rejects.file_id, rejects.line, rejects.byte_offset) = (l.file_id, l.line, l.byte_offset);

DELETE FROM tool_calls
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM retold_turns);
DELETE FROM step_texts
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM retold_turns);
DELETE FROM turns
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM retold_turns);
DELETE FROM turn_parts
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM retold_turns);
DELETE FROM probes
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions);
DELETE FROM sessions
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM retold_sessions);
DELETE FROM diagnostics
WHERE (call_id, file_id) IN (SELECT (call_id, file_id) FROM retold_calls)
    AND (call_id, file_id) NOT IN (
        SELECT (call_id, file_id) FROM tool_calls WHERE file_id IN (SELECT file_id FROM retold_calls)
    );

UPDATE sessions SET turns = held.turns, steps = held.steps, calls = held.calls, faults = held.faults
FROM (
    SELECT
        s.file_id, s.source, s.session_id,
        count(t.turn_id) AS turns, coalesce(sum(t.steps), 0) AS steps,
        coalesce(sum(t.calls), 0) AS calls, coalesce(sum(t.faults), 0) AS faults
    FROM sessions s LEFT JOIN turns t USING (file_id, source, session_id)
    WHERE (s.file_id, s.source, s.session_id) IN (SELECT (old, source, session_id) FROM retold_turns)
    GROUP BY ALL
) held
WHERE (sessions.file_id, sessions.source, sessions.session_id) = (held.file_id, held.source, held.session_id);

INSERT INTO replaced
SELECT DISTINCT old FROM retold_sessions WHERE old NOT IN (SELECT file_id FROM sessions);

UPDATE files SET
    sessions = (SELECT count(*) FROM stored_sessions s WHERE s.file_id = files.file_id),
    turns = (SELECT count(*) FROM stored_turns t WHERE t.file_id = files.file_id),
    calls = (SELECT count(*) FROM stored_tool_calls c WHERE c.file_id = files.file_id),
    rejects = (SELECT count(*) FROM rejects r WHERE r.file_id = files.file_id)
WHERE file_id IN (SELECT old FROM retold_sessions UNION SELECT old FROM retold_turns);

-- A session that another content than the removed one holds is replaced by that; the others are gone.
CREATE TEMP TABLE removed_sessions AS
SELECT
    r.old, s.source, s.session_id,
    EXISTS (
        FROM sessions n WHERE (n.source, n.session_id) = (s.source, s.session_id) AND n.file_id NOT IN (FROM replaced)
    ) AS is_told
FROM removed_contents r JOIN sessions s ON s.file_id = r.old;

UPDATE ingest_runs SET
    sessions_replaced = sessions_replaced + (
        SELECT count(*) FROM (
            SELECT source, told_as FROM retold_sessions
            UNION SELECT source, session_id FROM retold_turns
            UNION SELECT source, session_id FROM removed_sessions WHERE is_told
        )
    ),
    sessions_removed = sessions_removed + (
        SELECT count(DISTINCT (source, session_id)) FROM removed_sessions WHERE NOT is_told
    ),
    calls_fewer = calls_fewer + (
        SELECT count(DISTINCT call_id) FROM (
            SELECT call_id FROM retold_calls ANTI JOIN (
                SELECT old AS file_id, source, session_id FROM retold_sessions WHERE told_as <> session_id
            ) USING (file_id, source, session_id)
            UNION
            SELECT call_id FROM tool_calls WHERE file_id IN (SELECT old FROM removed_contents)
        )
        WHERE call_id NOT IN (SELECT call_id FROM tool_calls WHERE file_id NOT IN (FROM replaced))
    ) + (
        SELECT coalesce(sum(greatest(0, o.calls - n.calls)), 0)
        FROM (
            SELECT r.old, r.source, r.session_id, count(c.call_id) AS calls
            FROM retold_sessions r LEFT JOIN retold_calls c ON (c.file_id, c.source, c.session_id) = (r.old, r.source, r.session_id)
            WHERE r.told_as <> r.session_id GROUP BY ALL
        ) o
        JOIN retold_sessions USING (old, source, session_id)
        JOIN sessions n ON (n.file_id, n.source, n.session_id) = (retold_sessions.new, o.source, retold_sessions.told_as)
    )
WHERE run_id = (SELECT max(run_id) FROM ingest_runs);
