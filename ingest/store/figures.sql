-- What the closing table of a load says of the files of the latest run: (what, how many); all but `rejects` are calls.
-- `judged`: as parse_known in rollups/calls.sql.

WITH of_run AS (
    SELECT * FROM tool_calls
    WHERE file_id IN (SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs))
)
SELECT 'duplicates' AS what, count(*) AS calls FROM of_run WHERE duplicate
UNION ALL
SELECT 'judged', count(*) FROM of_run
WHERE NOT duplicate AND (
    syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none') OR fault_layer IN ('syntax', 'schema')
)
UNION ALL
SELECT fault_layer, count(*) FROM of_run WHERE NOT duplicate AND fault_layer IS NOT NULL GROUP BY fault_layer
UNION ALL
SELECT 'rejects', rejects FROM ingest_runs WHERE run_id = (SELECT max(run_id) FROM ingest_runs);
