-- Run after settle.sql. Marks all rows of a call, turn or session except one as duplicates.

-- Number of calls of each session in each file: of two copies, the copy in the fuller transcript counts.
CREATE TEMP TABLE transcript_calls AS
SELECT session_id, file_id, count(*) AS calls
FROM tool_calls
WHERE session_id IN (
    SELECT session_id FROM tool_calls WHERE call_id IN (FROM copied_calls)
    UNION
    SELECT session_id FROM turns WHERE turn_id IN (FROM copied_turns)
)
GROUP BY session_id, file_id;

-- A forked session repeats the calls of its parent, possibly with the time of the fork. So the row in the original session
-- counts. `is_below` is true for a row whose parent session has the same call or turn. If the original session is not loaded,
-- the first fork counts, because its parent is missing.
CREATE TEMP TABLE parents AS
SELECT source, session_id, max(parent_session_id) AS parent FROM sessions
WHERE parent_session_id <> session_id AND session_id IN (
    SELECT session_id FROM transcript_calls UNION SELECT session_id FROM turns WHERE turn_id IN (FROM copied_turns)
)
GROUP BY ALL;

CREATE TEMP TABLE forked_calls AS
SELECT DISTINCT call_id, source, session_id, parent IN (
    SELECT o.session_id FROM tool_calls o WHERE o.call_id = c.call_id AND o.source = c.source
) AS is_below
FROM tool_calls c JOIN copied_calls USING (call_id) JOIN parents USING (source, session_id);

CREATE TEMP TABLE forked_turns AS
SELECT DISTINCT turn_id, source, session_id, parent IN (
    SELECT o.session_id FROM turns o WHERE o.turn_id = t.turn_id AND o.source = t.source
) AS is_below
FROM turns t JOIN copied_turns USING (turn_id) JOIN parents USING (source, session_id);

-- Preferred rows of a call: rows of sessions that are not forks, then rows with a result, the earliest, rows in the fuller
-- transcript, and the lowest session_id, file_id and line.
CREATE TEMP TABLE changed_calls AS
WITH
    ranked AS (
        SELECT
            c.rowid AS row, c.duplicate,
            row_number() OVER (
                PARTITION BY c.call_id
                ORDER BY
                    f.is_below NULLS FIRST, c.result_status IS NOT DISTINCT FROM 'missing', c.ts NULLS LAST,
                    h.calls DESC, c.session_id, c.file_id, c.line, c.rowid
            ) > 1 AS is_copy
        FROM tool_calls c
        JOIN copied_calls USING (call_id)
        LEFT JOIN forked_calls f USING (call_id, source, session_id)
        JOIN transcript_calls h ON h.session_id = c.session_id AND h.file_id = c.file_id
    )
SELECT row, is_copy FROM ranked WHERE duplicate IS DISTINCT FROM is_copy;

UPDATE tool_calls SET duplicate = changed.is_copy FROM changed_calls changed WHERE tool_calls.rowid = changed.row;

-- Preferred rows of a turn: rows of sessions that are not forks, then rows with an end, rows with more steps and calls, and then
-- as for calls.
CREATE TEMP TABLE changed_turns AS
WITH
    ranked AS (
        SELECT
            t.rowid AS row, t.duplicate,
            row_number() OVER (
                PARTITION BY t.turn_id
                ORDER BY
                    f.is_below NULLS FIRST, t.derived_reason IS NOT DISTINCT FROM 'not_ended', t.steps DESC, t.calls DESC,
                    t.ts NULLS LAST, coalesce(h.calls, 0) DESC, t.session_id, t.file_id, t.line, t.rowid
            ) > 1 AS is_copy
        FROM turns t
        JOIN copied_turns USING (turn_id)
        LEFT JOIN forked_turns f USING (turn_id, source, session_id)
        LEFT JOIN transcript_calls h ON h.session_id = t.session_id AND h.file_id = t.file_id
    )
SELECT row, is_copy FROM ranked WHERE duplicate IS DISTINCT FROM is_copy;

UPDATE turns SET duplicate = changed.is_copy FROM changed_turns changed WHERE turns.rowid = changed.row;

-- A session has one row per file. The row with the most calls counts. `duplicate_calls` is the number of duplicate calls in this
-- file.
CREATE TEMP TABLE session_rows AS
WITH
    affected AS (
        FROM copied_sessions
        UNION
        SELECT source, session_id FROM tool_calls WHERE call_id IN (FROM copied_calls)
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
