-- Run after take_back.sql. A turn may begin in one file and continue in another. The continuation lacks the user's message, so
-- its turn_id has the 16 digits of the position without the hash of the message. It gets the turn_id of the turn that began at
-- this position: in the file's previous content, else the latest one that began before. Adds old and new ids to `touched_turns`
-- (turn_id).

CREATE TEMP TABLE new_turn_ids AS
WITH
    parts AS (
        SELECT t.*, f.follows FROM turns t JOIN files f USING (file_id)
        WHERE NOT t.begun AND (t.source, t.session_id) IN (FROM touched_sessions)
    ),
    beginnings AS (
        SELECT p.turn_id AS old, p.file_id, b.turn_id AS new
        FROM parts p
        JOIN turns b ON (b.source, b.session_id, b.turn) = (p.source, p.session_id, p.turn)
            AND b.begun AND left(b.turn_id, 16) = left(p.turn_id, 16)
        QUALIFY row_number() OVER (
            PARTITION BY p.turn_id, p.file_id
            ORDER BY
                b.file_id IS NOT DISTINCT FROM p.follows DESC, coalesce(b.ts <= p.ts, true) DESC,
                b.ts DESC NULLS LAST, b.turn_id
        ) = 1
    )
FROM beginnings WHERE old <> new;

UPDATE turns SET turn_id = a.new FROM new_turn_ids a
WHERE (turns.turn_id, turns.file_id) = (a.old, a.file_id) AND NOT turns.begun;
UPDATE tool_calls SET turn_id = a.new FROM new_turn_ids a
WHERE (tool_calls.turn_id, tool_calls.file_id) = (a.old, a.file_id)
    AND NOT EXISTS (FROM turns b WHERE (b.turn_id, b.file_id) = (a.old, a.file_id));
UPDATE step_texts SET turn_id = a.new FROM new_turn_ids a
WHERE (step_texts.turn_id, step_texts.file_id) = (a.old, a.file_id)
    AND NOT EXISTS (FROM turns b WHERE (b.turn_id, b.file_id) = (a.old, a.file_id));

INSERT INTO touched_turns SELECT new FROM new_turn_ids UNION SELECT old FROM new_turn_ids EXCEPT FROM touched_turns;
