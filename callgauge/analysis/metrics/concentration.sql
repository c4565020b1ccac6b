-- title: Concentration of calls in sessions
-- question: What share of a slice's calls is in its largest session, and how many sessions of equal size would give as much information?
-- unit: calls; one row per slice
-- column slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column calls: calls in the slice
-- column largest: number of calls in the slice's largest session
-- column effective: effective number of sessions: (Σ calls)² / Σ calls² (Kish 1965)
-- note: The numbers come from the single calls, because the daily sums contain no sessions. Days whose calls were deleted are left out.
-- $by: the same values as in the metric slices. $among: only these values of $by.
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
