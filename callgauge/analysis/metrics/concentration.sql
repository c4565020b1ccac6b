-- title: Concentration of calls in sessions
-- question: How many of a slice's calls are in its largest session, and how many sessions of equal size is the slice worth?
-- unit: calls; one row per slice
-- column slice: the value of $by; 'all' without $by, 'unknown' if the log names none
-- column calls: all calls
-- column largest: calls of the largest session
-- column effective: effective number of sessions: (Σ calls)² / Σ calls² (Kish 1965)
-- note: Counted in the single calls, because the daily sums have no sessions. Days whose calls were deleted are left out.
-- $by: as in the metric slices. $among: values of $by.
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
