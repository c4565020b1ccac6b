-- Run after replaced.sql. Undoes the joins of late results and of turn parts in the touched sessions, because the load may have
-- changed them. late.sql and `late_arrivals.py` join them again. Adds the turns to `late_turns` (turn_id), so that they are
-- judged again.

INSERT INTO late_turns
SELECT turn_id FROM tool_calls
WHERE result_file_id IS NOT NULL AND (source, session_id) IN (FROM touched_sessions)
UNION
SELECT turn_id FROM turn_parts WHERE (source, session_id) IN (FROM touched_sessions);

UPDATE tool_calls SET
    result_status = 'missing', error_flag_source = 'absent', result_fault_layer = NULL, result_file_id = NULL,
    result_text = NULL, result_bytes = NULL, latency_ms = NULL,
    -- The message stays unless it came from the late result.
    harness_message = CASE
        WHEN refused_by_harness IS NOT NULL THEN harness_message
        WHEN error_flag_source IN ('envelope', 'envelope_against_ok') THEN NULL
        WHEN harness_message NOT IN (
            SELECT harness_message FROM late_results
            WHERE state = 'joined' AND harness_message IS NOT NULL AND (source, session_id) IN (FROM touched_sessions)
        ) THEN harness_message
    END
WHERE result_file_id IS NOT NULL AND (source, session_id) IN (FROM touched_sessions);

DELETE FROM late_results
WHERE file_id IN (FROM replaced)
    OR (file_id, source, session_id) IN (SELECT (old, source, session_id) FROM repeated_sessions);

DELETE FROM turns USING turn_parts p
WHERE (turns.turn_id, turns.file_id, turns.line, turns.byte_offset) = (p.turn_id, p.file_id, p.line, p.byte_offset)
    AND turns.turn_id IN (FROM late_turns);
INSERT INTO turns BY NAME FROM turn_parts WHERE turn_id IN (FROM late_turns);
DELETE FROM turn_parts WHERE turn_id IN (FROM late_turns);
