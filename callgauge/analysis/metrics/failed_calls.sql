-- title: Failed calls
-- question: Which calls of this tool, signature, stage, session or model failed?
-- unit: call ids, newest first, at most $limit
-- column found: number of all matching calls
WITH failed AS NOT MATERIALIZED (
  SELECT call_id, fault_layer, ts, session_id, turn_id, step, ordinal
  FROM tool_calls
  WHERE {filters: trials}
    AND fault_layer IS NOT NULL AND NOT coalesce(duplicate, false)
    AND ($tool IS NULL OR tool = $tool) AND ($model IS NULL OR model = $model)
    AND ($signature IS NULL OR starts_with(signature_id, $signature))
    AND ($session IS NULL OR session_id = $session)
    AND ($layers IS NULL OR list_contains($layers, fault_layer))
)
SELECT call_id, fault_layer, (SELECT count(*) FROM failed) AS found
FROM failed
ORDER BY ts DESC NULLS LAST, session_id, turn_id, step, ordinal, call_id
LIMIT $limit
