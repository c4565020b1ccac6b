-- title: Turns whose reported and derived success disagree
-- question: For which turns do the reported and the derived success disagree, newest first?
-- unit: turns
-- column recorded_status: status of the turn in the log
-- column derived_reason: reason for the derived success or failure
-- column call_id: first failed call of the turn; if no call failed, its first call
-- column found: number of all matching turns on the days read; this answer is one page of them
-- note: The numbers come from the turns, not from the daily sums. The filters by tool and MCP server keep turns that called one of the selected tools.
-- $since, $until: the first and last day to read. $undated: true = also read turns without a time.
-- $first_day, $last_day: days that contain all calls of the sessions with turns on those days.
WITH chosen AS NOT MATERIALIZED (
  SELECT turn_id, session_id, turn, ts, model, source, recorded_status, recorded_ok, derived_reason, calls, faults FROM turns
  WHERE {filters: days}
    AND ($since IS NULL OR day >= $since OR ($undated AND day IS NULL))
    AND ($until IS NULL OR day <= $until OR ($undated AND day IS NULL))
    AND {filters: models, providers, prompts, sources, trials}
    AND NOT coalesce(duplicate, false) AND recorded_ok <> derived_ok
    AND ($tools IS NULL AND $mcp_servers IS NULL OR turn_id IN (
      SELECT turn_id FROM tool_calls
      WHERE ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
        AND {filters: tools, mcp_servers}))
),
page AS MATERIALIZED (
  SELECT * FROM chosen ORDER BY ts DESC NULLS LAST, turn_id LIMIT $limit OFFSET $offset
),
shown AS (
  SELECT turn_id, arg_min(call_id, (fault_layer IS NULL, step, ordinal, call_id)) AS call_id
  FROM tool_calls SEMI JOIN page USING (turn_id)
  WHERE NOT coalesce(duplicate, false)
    AND ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
  GROUP BY turn_id
)
SELECT turn_id, session_id, turn, ts, coalesce(model, 'unknown') AS model, source, recorded_status, recorded_ok, derived_reason, calls::BIGINT AS calls, faults::BIGINT AS faults, call_id, (SELECT count(*) FROM chosen)::BIGINT AS found
FROM page LEFT JOIN shown USING (turn_id)
ORDER BY ts DESC NULLS LAST, turn_id
