-- The open last turn of a session in one file cannot continue if a later turn begins in another file. It counts as failed, and
-- `turn_parts` keeps the row as it was.
CREATE TEMP TABLE superseded AS
SELECT t.rowid AS row, t.turn_id FROM turns t
WHERE NOT t.duplicate AND t.derived_reason = 'not_ended' AND t.derived_ok IS NULL
    AND (t.source, t.session_id) IN (FROM copied_sessions)
    AND EXISTS (
        FROM turns u
        WHERE (u.source, u.session_id) = (t.source, t.session_id)
            AND u.begun AND u.turn > t.turn AND u.file_id <> t.file_id
    );
INSERT INTO turn_parts BY NAME
SELECT turns.* FROM turns JOIN superseded s ON turns.rowid = s.row
WHERE NOT EXISTS (
    FROM turn_parts p
    WHERE (p.turn_id, p.file_id, p.line, p.byte_offset)
        = (turns.turn_id, turns.file_id, turns.line, turns.byte_offset)
);
UPDATE turns SET derived_ok = false FROM superseded s WHERE turns.rowid = s.row;
INSERT INTO late_turns SELECT turn_id FROM superseded EXCEPT FROM late_turns;
