-- title: Rates by anything
-- question: How often does it happen, in each slice, and how sure is that?
-- unit: calls, turns or chains, as the rate says; the rate is k / n
-- column rate: which rate, see dashboard/rates.py
-- column slice: the value of $by; 'all' without it, 'unknown' where the log names none
-- column also: the value of $also, a second dimension; 'all' without it
-- column k: observed with it
-- column n: of which it can be known
-- column total: all there are; total - n is unmeasured
-- column sessions: in which n was observed
-- column kk: sum over these sessions of k², as kn of k·n and nn of n²: what the interval needs to know how alike calls of one session are
-- note: Unmeasured is in neither number of a rate: it counts neither as good nor as bad.
-- note: From the daily sums. Only turns by tool, or of chosen tools, are counted in the facts: a turn belongs to every tool that it called.
-- note: A session counts once for each day, model and prompt it saw, and, where tools are told apart, for each tool.
-- $by and $also: model, provider, prompt, prompt_name, tool, definition, strategy, source, harness_version, day.
WITH
by_tool AS (
  SELECT $tools IS NOT NULL OR $definitions IS NOT NULL OR coalesce($by, '') IN ('tool', 'definition') OR coalesce($also, '') IN ('tool', 'definition') AS apart
),
turns_called AS (
  SELECT DISTINCT turn_id, coalesce(tool, 'unknown') AS tool, strategy, definition_id FROM tool_calls
  WHERE (SELECT apart FROM by_tool) AND list_has_any($rates, ['retried', 'recorded_ok', 'derived_ok', 'disagree'])
    AND NOT coalesce(duplicate, false)
    AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
    AND ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
),
turns_by_tool AS (
  SELECT u.day, u.source, u.provider, u.model, u.prompt_id, s.harness_version, c.strategy, c.tool, c.definition_id,
         u.session_id, u.calls, u.retries, u.recorded_ok, u.derived_ok
  FROM turns u
  JOIN (
    -- Without a dimension of the tool a turn counts once, whichever of the chosen tools it called.
    SELECT DISTINCT turn_id,
           CASE WHEN 'tool' IN (coalesce($by, ''), coalesce($also, '')) THEN tool END AS tool,
           CASE WHEN 'strategy' IN (coalesce($by, ''), coalesce($also, '')) THEN strategy END AS strategy,
           CASE WHEN 'definition' IN (coalesce($by, ''), coalesce($also, '')) THEN definition_id END AS definition_id
    FROM turns_called
  ) c USING (turn_id)
  LEFT JOIN (
    SELECT session_id, min(harness_version) AS harness_version FROM sessions WHERE NOT coalesce(duplicate, false) GROUP BY session_id
  ) s USING (session_id)
  WHERE NOT coalesce(u.duplicate, false)
),
turn_rates AS (
  SELECT day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, rate.rate AS rate,
         rate.k AS k, rate.n AS n, rate.total AS total, (rate.n > 0)::BIGINT AS sessions,
         rate.k * rate.k AS kk, rate.k * rate.n AS kn, rate.n * rate.n AS nn
  FROM (
    SELECT day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, session_id, unnest([
      {'rate': 'retried', 'k': count(*) FILTER (retries > 0), 'n': count(*) FILTER (calls > 0), 'total': count(*)},
      {'rate': 'recorded_ok', 'k': count(*) FILTER (recorded_ok), 'n': count(recorded_ok), 'total': count(*)},
      {'rate': 'derived_ok', 'k': count(*) FILTER (derived_ok), 'n': count(derived_ok), 'total': count(*)},
      {'rate': 'disagree', 'k': count(*) FILTER (recorded_ok <> derived_ok),
       'n': count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL), 'total': count(*)}
    ]) AS rate
    FROM turns_by_tool
    GROUP BY day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, session_id
  )
),
counted AS (
  SELECT * EXCLUDE (cut) FROM daily_rates
  WHERE cut = CASE WHEN (SELECT apart FROM by_tool) THEN 'tool' ELSE 'all' END
    AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
  UNION ALL BY NAME
  SELECT * FROM turn_rates
),
chosen AS (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name
  FROM counted c LEFT JOIN prompts p USING (prompt_id)
  WHERE list_contains($rates, rate)
    AND ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($providers IS NULL OR list_contains($providers, coalesce(provider, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(c.prompt_id, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
    AND ($strategies IS NULL OR list_contains($strategies, coalesce(strategy, 'unknown')))
    AND ($harness_versions IS NULL OR list_contains($harness_versions, coalesce(harness_version, 'unknown')))
    AND ($definitions IS NULL OR list_contains($definitions, coalesce(definition_id, 'unknown')))
)
SELECT
  rate,
  coalesce(CASE coalesce($by, 'all')
    WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'prompt_name' THEN prompt_name
    WHEN 'tool' THEN tool WHEN 'definition' THEN definition_id WHEN 'strategy' THEN strategy WHEN 'source' THEN source
    WHEN 'harness_version' THEN harness_version WHEN 'day' THEN day::VARCHAR ELSE 'all' END, 'unknown') AS slice,
  coalesce(CASE coalesce($also, 'all')
    WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'prompt_name' THEN prompt_name
    WHEN 'tool' THEN tool WHEN 'definition' THEN definition_id WHEN 'strategy' THEN strategy WHEN 'source' THEN source
    WHEN 'harness_version' THEN harness_version WHEN 'day' THEN day::VARCHAR ELSE 'all' END, 'unknown') AS also,
  sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions,
  sum(kk)::BIGINT AS kk, sum(kn)::BIGINT AS kn, sum(nn)::BIGINT AS nn
FROM chosen
GROUP BY ALL
ORDER BY rate, total DESC, slice, also
