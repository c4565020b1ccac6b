-- title: How few sessions hold the calls
-- question: How much of a slice's calls does its largest session hold, and how many sessions of equal size is it worth?
-- unit: calls; one row a slice
-- column slice: the value of $by; 'all' without it, 'unknown' where the log names none
-- column calls: all calls
-- column largest: calls of the session that has most
-- column effective: the effective number of sessions, the square of the sum of their calls by the sum of their squares (Kish 1965)
-- note: From the facts: the daily sums do not keep single sessions. Days whose facts were removed are left out.
-- $by: as of the metric slices. $among: values of $by.
WITH
told AS (
  SELECT session_id, min(harness_version) AS harness_version FROM sessions WHERE NOT coalesce(duplicate, false) GROUP BY session_id
),
named AS NOT MATERIALIZED (
  SELECT c.*, t.harness_version, coalesce(p.name, c.prompt_id) AS prompt_name
  FROM tool_calls c LEFT JOIN told t USING (session_id) LEFT JOIN prompts p USING (prompt_id)
  WHERE NOT coalesce(c.duplicate, false)
),
counted AS (
  SELECT {value: by} AS slice, source, session_id, count(*) AS calls
  FROM named
  WHERE ($among IS NULL OR list_contains($among, {value: by}))
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, strategies, harness_versions, definitions, trials}
  GROUP BY ALL
)
SELECT slice, sum(calls)::BIGINT AS calls, max(calls)::BIGINT AS largest, sum(calls)::DOUBLE ** 2 / sum(calls ** 2) AS effective
FROM counted GROUP BY slice ORDER BY slice
