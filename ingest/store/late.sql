-- Run after copies.sql. Joins late results to their calls, and lists results without a call as rejects. Reads the sessions in
-- `touched_sessions` (source, session_id). Adds the turns to judge again to `late_turns` (turn_id).

CREATE TEMP TABLE late AS
SELECT
    rowid AS row, *,
    'a result (' || left(coalesce(tool_call_id, tool, 'without a name'), 200) || ') of session '
        || left(session_id, 200) || ' whose call is in no log that was loaded' AS reason
FROM late_results
WHERE (source, session_id) IN (FROM touched_sessions);

-- The calls to which a result may belong: calls with its tool_call_id or, if it has none, the call at its position in the turn.
-- Preferred are calls without a result, then calls in the same file, calls before the result, and the latest.
CREATE TEMP TABLE late_pairs AS
WITH
    session_calls AS (FROM tool_calls WHERE session_id IN (SELECT session_id FROM late)),
    pairs AS (
        SELECT l.row, l.ts AS result_ts, l.file_id, l.line, c.call_id, c.turn_id, c.result_status = 'missing' AS is_waiting,
               c.turn, c.step, c.ordinal, coalesce(c.ts <= l.ts, true) AS is_earlier, c.file_id = l.file_id AS is_same_file
        FROM late l JOIN session_calls c USING (source, session_id, tool_call_id)
        UNION
        SELECT l.row, l.ts, l.file_id, l.line, c.call_id, c.turn_id, c.result_status = 'missing',
               c.turn, c.step, c.ordinal, true, c.file_id = l.file_id
        FROM late l JOIN session_calls c USING (source, session_id, turn, step, ordinal)
        WHERE l.tool_call_id IS NULL AND (l.tool IS NULL OR c.tool IS NULL OR l.tool = c.tool)
    ),
    chosen AS (
        FROM pairs
        QUALIFY row_number() OVER (
            PARTITION BY row
            ORDER BY is_waiting DESC, is_same_file DESC, is_earlier DESC, turn DESC, step DESC, ordinal DESC, call_id
        ) = 1
    )
SELECT
    row, call_id, turn_id,
    is_waiting AND row_number() OVER (
        PARTITION BY call_id ORDER BY result_ts DESC NULLS LAST, file_id DESC, line DESC
    ) = 1 AS joins
FROM chosen;

-- All copies of the call get the result, so that it does not matter which copy counts.
UPDATE tool_calls SET
    result_status = l.result_status, error_flag_source = l.error_flag_source,
    result_fault_layer = l.result_fault_layer, result_file_id = l.file_id,
    result_text = l.result_text, result_bytes = l.result_bytes, latency_ms = l.latency_ms,
    harness_message = coalesce(tool_calls.harness_message, l.harness_message)
FROM late l JOIN late_pairs p USING (row)
WHERE p.joins AND tool_calls.call_id = p.call_id AND tool_calls.result_status = 'missing';

INSERT INTO late_turns
SELECT turn_id FROM late_pairs WHERE joins EXCEPT FROM late_turns;

CREATE TEMP TABLE late_states AS
SELECT l.row, l.file_id, l.state AS old,
       CASE WHEN p.row IS NULL THEN 'waiting' WHEN p.joins THEN 'joined' ELSE 'copy' END AS state
FROM late l LEFT JOIN late_pairs p USING (row);

UPDATE late_results SET state = s.state FROM late_states s WHERE late_results.rowid = s.row;

DELETE FROM rejects USING late l
WHERE rejects.code = 'orphan_result'
    AND (rejects.file_id, rejects.line, rejects.reason) = (l.file_id, l.line, l.reason);

INSERT INTO rejects BY NAME
SELECT l.file_id, l.line, l.byte_offset, 'orphan_result' AS code, l.reason, '' AS snippet
FROM late l JOIN late_states s USING (row) WHERE s.state = 'waiting';

UPDATE files SET rejects = rejects + changed.more
FROM (
    SELECT file_id, count(*) FILTER (state = 'waiting') - count(*) FILTER (old = 'waiting') AS more
    FROM late_states GROUP BY file_id
) changed
WHERE files.file_id = changed.file_id AND more <> 0;

UPDATE ingest_runs SET rejects = (SELECT coalesce(sum(rejects), 0) FROM files WHERE files.run_id = ingest_runs.run_id)
WHERE run_id = (SELECT max(run_id) FROM ingest_runs);
