-- After touched.sql: replaced files out, late facts taken back, copies marked. Leaves `touched_days` (day) for rollups.sql
-- and `late_turns` (turn_id) for late.sql.

DELETE FROM diagnostics WHERE file_id IN (FROM replaced);
DELETE FROM tool_calls WHERE file_id IN (FROM replaced);
DELETE FROM step_texts WHERE file_id IN (FROM replaced);
DELETE FROM turns WHERE file_id IN (FROM replaced);
DELETE FROM sessions WHERE file_id IN (FROM replaced);
DELETE FROM probes WHERE file_id IN (FROM replaced);
DELETE FROM rejects WHERE file_id IN (FROM replaced);
DELETE FROM turn_parts WHERE file_id IN (FROM replaced);
DELETE FROM unfinished WHERE file_id IN (FROM replaced);
DELETE FROM files WHERE file_id IN (FROM replaced);
DELETE FROM copies WHERE file_id NOT IN (SELECT file_id FROM files) OR path IN (SELECT path FROM files);

-- Facts that came late are taken back where they may have changed; late.sql joins them anew.
CREATE TEMP TABLE late_turns AS
SELECT DISTINCT turn_id FROM tool_calls
WHERE result_file_id IS NOT NULL AND (source, session_id) IN (FROM touched_sessions)
UNION
SELECT turn_id FROM turn_parts WHERE (source, session_id) IN (FROM touched_sessions);

UPDATE tool_calls SET
    result_status = 'missing', error_flag_source = 'absent', result_fault_layer = NULL, result_file_id = NULL,
    result_text = NULL, result_bytes = NULL, latency_ms = NULL,
    harness_message = CASE
        WHEN refused_by_harness IS NOT NULL THEN harness_message
        WHEN harness_message NOT IN (
            SELECT harness_message FROM late_results
            WHERE state = 'joined' AND harness_message IS NOT NULL AND (source, session_id) IN (FROM touched_sessions)
        ) THEN harness_message
    END
WHERE result_file_id IS NOT NULL AND (source, session_id) IN (FROM touched_sessions);

DELETE FROM late_results WHERE file_id IN (FROM replaced);

DELETE FROM turns USING turn_parts p
WHERE (turns.turn_id, turns.file_id, turns.line, turns.byte_offset) = (p.turn_id, p.file_id, p.line, p.byte_offset)
    AND turns.turn_id IN (FROM late_turns);
INSERT INTO turns BY NAME FROM turn_parts WHERE turn_id IN (FROM late_turns);
DELETE FROM turn_parts WHERE turn_id IN (FROM late_turns);

-- How much of each session a file holds: of two copies, the one from the fuller transcript counts.
CREATE TEMP TABLE held AS
SELECT session_id, file_id, count(*) AS calls
FROM tool_calls
WHERE session_id IN (
    SELECT session_id FROM tool_calls WHERE call_id IN (FROM touched_calls)
    UNION
    SELECT session_id FROM turns WHERE turn_id IN (FROM touched_turns)
)
GROUP BY session_id, file_id;

-- Calls: the row with a result counts, then the fuller transcript, then the file read first, then the first line.
CREATE TEMP TABLE turned_calls AS
WITH
    copies AS (
        SELECT call_id FROM tool_calls WHERE call_id IN (FROM touched_calls)
        GROUP BY call_id HAVING count(*) > 1 OR bool_or(duplicate)
    ),
    ranked AS (
        SELECT
            c.rowid AS row, c.day, c.duplicate,
            row_number() OVER (
                PARTITION BY c.call_id
                ORDER BY c.result_status IS NOT DISTINCT FROM 'missing', h.calls DESC, c.file_id, c.line, c.rowid
            ) > 1 AS is_copy
        FROM tool_calls c
        JOIN copies USING (call_id)
        JOIN held h ON h.session_id = c.session_id AND h.file_id = c.file_id
    )
SELECT row, day, is_copy FROM ranked WHERE duplicate IS DISTINCT FROM is_copy;

UPDATE tool_calls SET duplicate = turned.is_copy FROM turned_calls turned WHERE tool_calls.rowid = turned.row;

-- Turns: the row whose end was seen counts, then the one with more steps, then as above.
CREATE TEMP TABLE turned_turns AS
WITH
    copies AS (
        SELECT turn_id FROM turns WHERE turn_id IN (FROM touched_turns)
        GROUP BY turn_id HAVING count(*) > 1 OR bool_or(duplicate)
    ),
    ranked AS (
        SELECT
            t.rowid AS row, t.day, t.duplicate,
            row_number() OVER (
                PARTITION BY t.turn_id
                ORDER BY
                    t.derived_reason IS NOT DISTINCT FROM 'not_ended', t.steps DESC, t.calls DESC,
                    coalesce(h.calls, 0) DESC, t.file_id, t.line, t.rowid
            ) > 1 AS is_copy
        FROM turns t
        JOIN copies USING (turn_id)
        LEFT JOIN held h ON h.session_id = t.session_id AND h.file_id = t.file_id
    )
SELECT row, day, is_copy FROM ranked WHERE duplicate IS DISTINCT FROM is_copy;

UPDATE turns SET duplicate = turned.is_copy FROM turned_turns turned WHERE turns.rowid = turned.row;

INSERT INTO touched_days
SELECT day FROM turned_calls UNION SELECT day FROM turned_turns
EXCEPT SELECT day FROM touched_days;

-- Sessions: one row a session and file; of several rows of one session, the fullest stands for it.
CREATE TEMP TABLE session_rows AS
WITH
    affected AS (
        FROM touched_sessions
        UNION
        SELECT source, session_id FROM tool_calls WHERE rowid IN (SELECT row FROM turned_calls)
    ),
    copies AS (
        SELECT session_id, file_id, count(*) AS copies FROM tool_calls
        WHERE duplicate AND (source, session_id) IN (FROM affected)
        GROUP BY session_id, file_id
    )
SELECT
    s.rowid AS row, s.duplicate_calls, s.duplicate,
    coalesce(c.copies, 0) AS copies,
    row_number() OVER (
        PARTITION BY s.source, s.session_id ORDER BY s.calls DESC, s.turns DESC, s.file_id, s.line, s.rowid
    ) > 1 AS is_copy
FROM sessions s
LEFT JOIN copies c ON c.session_id = s.session_id AND c.file_id = s.file_id
WHERE (s.source, s.session_id) IN (FROM affected);

UPDATE sessions SET duplicate_calls = s.copies, duplicate = s.is_copy
FROM session_rows s
WHERE sessions.rowid = s.row
    AND (s.duplicate_calls, s.duplicate) IS DISTINCT FROM (s.copies, s.is_copy);
