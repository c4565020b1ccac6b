-- Counts the files of the latest load for its summary, as (what, number). The numbers are calls, except lines (`rejects`,
-- `new_rejects`) and sessions (`sessions_…`).
-- - judged: calls as in parse_known of rollups/calls.sql

WITH run_calls AS (
    SELECT * FROM tool_calls
    WHERE file_id IN (SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs))
)
SELECT 'duplicates' AS what, count(*) AS calls FROM run_calls WHERE duplicate
UNION ALL
SELECT 'judged', count(*) FROM run_calls
WHERE NOT duplicate AND (syntax_seen <> 'none' OR fault_layer = 'syntax')
UNION ALL
SELECT fault_layer, count(*) FROM run_calls WHERE NOT duplicate AND fault_layer IS NOT NULL GROUP BY fault_layer
UNION ALL
SELECT 'new_rejects', count(*) FROM rejects
SEMI JOIN (FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs)) USING (file_id)
ANTI JOIN known_rejects USING (file_id, byte_offset, code)
ANTI JOIN (FROM known_rejects WHERE byte_offset IS NULL) USING (file_id, code, reason)
UNION ALL
SELECT unnest(['rejects', 'sessions_replaced', 'sessions_removed', 'calls_fewer']),
       coalesce(unnest([rejects, sessions_replaced, sessions_removed, calls_fewer]), 0)
FROM ingest_runs WHERE run_id = (SELECT max(run_id) FROM ingest_runs);
