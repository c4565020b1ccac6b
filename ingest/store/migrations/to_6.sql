-- From version 5. Ids of calls and turns without a key of their own get a hash of the content after their 16 digits of the
-- position. Old links contain only the 16 digits. If a turn has a key of its own, the positions of its calls are relative to the
-- turn.

CREATE TEMP TABLE marked_calls AS
SELECT
    rowid AS row, call_id AS old, file_id,
    if(turn_id = turn_place(source, session_id, turn), call_id, call_place_in_turn(turn_id, step, ordinal))
        || call_mark(tool_call_id, coalesce(tool_sent, tool), args_source, raw_arguments) AS new
FROM tool_calls
WHERE call_id = call_place(source, session_id, turn, step, ordinal);

UPDATE tool_calls SET call_id = m.new FROM marked_calls m WHERE tool_calls.rowid = m.row;

-- If several calls in a file have the same id, which was a bug, the first call keeps the diagnostics.
CREATE TEMP TABLE renamed_calls AS
SELECT old, file_id, arg_min(new, row) AS new FROM marked_calls GROUP BY old, file_id;

UPDATE diagnostics SET call_id = r.new FROM renamed_calls r
WHERE (diagnostics.call_id, diagnostics.file_id) = (r.old, r.file_id);

-- A retry sequence begins in its own file, or in the file of another part of its turn.
UPDATE tool_calls SET chain_id = r.new FROM renamed_calls r
WHERE (tool_calls.chain_id, tool_calls.file_id) = (r.old, r.file_id);
UPDATE tool_calls SET chain_id = r.new FROM (SELECT old, min(new) AS new FROM renamed_calls GROUP BY old) r
WHERE tool_calls.chain_id = r.old;

CREATE TEMP TABLE marked_turns AS
SELECT turn_id AS old, file_id, line, byte_offset, turn_id || turn_mark(user_text) AS new
FROM (FROM turns UNION BY NAME FROM turn_parts)
WHERE begun IS NOT FALSE AND user_text IS NOT NULL AND turn_id = turn_place(source, session_id, turn);

UPDATE turns SET turn_id = m.new FROM marked_turns m
WHERE (turns.turn_id, turns.file_id, turns.line, turns.byte_offset) = (m.old, m.file_id, m.line, m.byte_offset);
UPDATE turn_parts SET turn_id = m.new FROM marked_turns m
WHERE (turn_parts.turn_id, turn_parts.file_id, turn_parts.line, turn_parts.byte_offset)
    = (m.old, m.file_id, m.line, m.byte_offset);

-- Calls and step texts belong to the last turn of their turn_id that begins before them in the file, else to a turn in another
-- file.
CREATE TEMP TABLE renamed_turns AS
SELECT old, file_id, new, line, lead(line, 1, 9223372036854775807) OVER (PARTITION BY old, file_id ORDER BY line, byte_offset) AS until
FROM marked_turns;
CREATE TEMP TABLE first_turns AS SELECT old, min(new) AS new FROM marked_turns GROUP BY old;

UPDATE tool_calls SET turn_id = r.new FROM renamed_turns r
WHERE (tool_calls.turn_id, tool_calls.file_id) = (r.old, r.file_id) AND tool_calls.line >= r.line AND tool_calls.line < r.until;
UPDATE step_texts SET turn_id = r.new FROM renamed_turns r
WHERE (step_texts.turn_id, step_texts.file_id) = (r.old, r.file_id) AND step_texts.line >= r.line AND step_texts.line < r.until;
UPDATE tool_calls SET turn_id = f.new FROM first_turns f WHERE tool_calls.turn_id = f.old;
UPDATE step_texts SET turn_id = f.new FROM first_turns f WHERE step_texts.turn_id = f.old;
UPDATE turns SET turn_id = f.new FROM first_turns f WHERE turns.turn_id = f.old;
UPDATE turn_parts SET turn_id = f.new FROM first_turns f WHERE turn_parts.turn_id = f.old;

-- Rows that were duplicates only because of their id count now.

UPDATE tool_calls SET duplicate = false
FROM (SELECT arg_min(rowid, (file_id, line)) AS row FROM tool_calls GROUP BY call_id HAVING bool_and(duplicate)) lost
WHERE tool_calls.rowid = lost.row;
UPDATE turns SET duplicate = false
FROM (SELECT arg_min(rowid, (file_id, line)) AS row FROM turns GROUP BY turn_id HAVING bool_and(duplicate)) lost
WHERE turns.rowid = lost.row;
UPDATE sessions SET duplicate_calls = coalesce(copies.calls, 0)
FROM sessions s
LEFT JOIN (
    SELECT source, session_id, file_id, count(*) AS calls FROM tool_calls WHERE duplicate GROUP BY ALL
) copies ON (copies.source, copies.session_id, copies.file_id) = (s.source, s.session_id, s.file_id)
WHERE sessions.rowid = s.rowid AND sessions.duplicate_calls IS DISTINCT FROM coalesce(copies.calls, 0);

DROP TABLE marked_calls;
DROP TABLE renamed_calls;
DROP TABLE marked_turns;
DROP TABLE renamed_turns;
DROP TABLE first_turns;

-- Sessions in several files.

CREATE TABLE file_members (file_id INTEGER, line BIGINT, byte_offset BIGINT, path VARCHAR);
ALTER TABLE sessions ADD COLUMN arm VARCHAR;
ALTER TABLE sessions ADD COLUMN repeat_no VARCHAR;
ALTER TABLE sessions ADD COLUMN capabilities VARCHAR;
ALTER TABLE sessions ADD COLUMN sampling VARCHAR;
ALTER TABLE turns ADD COLUMN stop_reason VARCHAR;
ALTER TABLE turns ADD COLUMN verdict_reason VARCHAR;
ALTER TABLE turns ADD COLUMN compensations INTEGER;
ALTER TABLE turns ADD COLUMN resent INTEGER;
ALTER TABLE turns ADD COLUMN cost DOUBLE;
ALTER TABLE turn_parts ADD COLUMN stop_reason VARCHAR;
ALTER TABLE turn_parts ADD COLUMN verdict_reason VARCHAR;
ALTER TABLE turn_parts ADD COLUMN compensations INTEGER;
ALTER TABLE turn_parts ADD COLUMN resent INTEGER;
ALTER TABLE turn_parts ADD COLUMN cost DOUBLE;
ALTER TABLE tool_calls ADD COLUMN simulated VARCHAR;
ALTER TABLE probes ADD COLUMN probe_id VARCHAR;
