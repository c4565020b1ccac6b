-- Run after touched.sql. Removes the rows of earlier contents that newer contents repeat (see succession.sql). An earlier
-- content without remaining sessions is added to `replaced`. The counts of the run include these rows, and the rows that
-- --replace removes (`removed_contents`: old, new).

CREATE TEMP TABLE repeated_calls AS
SELECT c.call_id, c.file_id, c.source, c.session_id FROM tool_calls c
WHERE (c.file_id, c.source, c.session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    OR (c.file_id, c.turn_id) IN (SELECT (old, turn_id) FROM repeated_turns);

DELETE FROM rejects USING late_results l
WHERE rejects.code = 'orphan_result'
    AND (l.file_id, l.source, l.session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    AND (rejects.file_id, rejects.line, rejects.byte_offset) = (l.file_id, l.line, l.byte_offset);

DELETE FROM tool_calls
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM repeated_turns);
DELETE FROM step_texts
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM repeated_turns);
DELETE FROM turns
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM repeated_turns);
DELETE FROM turn_parts
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions)
    OR (file_id, turn_id) IN (SELECT (old, turn_id) FROM repeated_turns);
DELETE FROM probes
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions);
DELETE FROM sessions
WHERE (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions);
DELETE FROM diagnostics
WHERE (call_id, file_id) IN (SELECT (call_id, file_id) FROM repeated_calls)
    AND (call_id, file_id) NOT IN (
        SELECT (call_id, file_id) FROM tool_calls WHERE file_id IN (SELECT file_id FROM repeated_calls)
    );

UPDATE sessions SET turns = counts.turns, steps = counts.steps, calls = counts.calls, faults = counts.faults
FROM (
    SELECT
        s.file_id, s.source, s.session_id,
        count(t.turn_id) AS turns, coalesce(sum(t.steps), 0) AS steps,
        coalesce(sum(t.calls), 0) AS calls, coalesce(sum(t.faults), 0) AS faults
    FROM sessions s LEFT JOIN turns t USING (file_id, source, session_id)
    WHERE (s.file_id, s.source, s.session_id) IN (SELECT (old, source, session_id) FROM repeated_turns)
    GROUP BY ALL
) counts
WHERE (sessions.file_id, sessions.source, sessions.session_id) = (counts.file_id, counts.source, counts.session_id);

INSERT INTO replaced
SELECT DISTINCT old FROM repeated_sessions WHERE old NOT IN (SELECT file_id FROM stored_sessions);

UPDATE files SET
    sessions = (SELECT count(*) FROM stored_sessions s WHERE s.file_id = files.file_id),
    turns = (SELECT count(*) FROM stored_turns t WHERE t.file_id = files.file_id),
    calls = (SELECT count(*) FROM stored_tool_calls c WHERE c.file_id = files.file_id),
    rejects = (SELECT count(*) FROM rejects r WHERE r.file_id = files.file_id)
WHERE file_id IN (SELECT old FROM repeated_sessions UNION SELECT old FROM repeated_turns);

-- A session of removed content counts as replaced if another content has it, else as removed.
CREATE TEMP TABLE removed_sessions AS
SELECT
    r.old, s.source, s.session_id,
    EXISTS (
        FROM sessions n WHERE (n.source, n.session_id) = (s.source, s.session_id) AND n.file_id NOT IN (FROM replaced)
    ) AS is_elsewhere
FROM removed_contents r JOIN sessions s ON s.file_id = r.old;

UPDATE ingest_runs SET
    sessions_replaced = sessions_replaced + (
        SELECT count(*) FROM (
            SELECT source, new_session_id FROM repeated_sessions
            UNION SELECT source, session_id FROM repeated_turns
            UNION SELECT source, session_id FROM removed_sessions WHERE is_elsewhere
        )
    ),
    sessions_removed = sessions_removed + (
        SELECT count(DISTINCT (source, session_id)) FROM removed_sessions WHERE NOT is_elsewhere
    ),
    calls_fewer = calls_fewer + (
        SELECT count(DISTINCT call_id) FROM (
            SELECT call_id FROM repeated_calls ANTI JOIN (
                SELECT old AS file_id, source, session_id FROM repeated_sessions WHERE new_session_id <> session_id
            ) USING (file_id, source, session_id)
            UNION
            SELECT call_id FROM tool_calls WHERE file_id IN (SELECT old FROM removed_contents)
        )
        WHERE call_id NOT IN (SELECT call_id FROM tool_calls WHERE file_id NOT IN (FROM replaced))
    ) + (
        SELECT coalesce(sum(greatest(0, o.calls - n.calls)), 0)
        FROM (
            SELECT r.old, r.source, r.session_id, count(c.call_id) AS calls
            FROM repeated_sessions r
            LEFT JOIN repeated_calls c ON (c.file_id, c.source, c.session_id) = (r.old, r.source, r.session_id)
            WHERE r.new_session_id <> r.session_id GROUP BY ALL
        ) o
        JOIN repeated_sessions USING (old, source, session_id)
        JOIN sessions n
            ON (n.file_id, n.source, n.session_id) = (repeated_sessions.new, o.source, repeated_sessions.new_session_id)
    )
WHERE run_id = (SELECT max(run_id) FROM ingest_runs);
