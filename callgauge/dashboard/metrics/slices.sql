-- title: Rates by anything
-- question: How often does it happen, in each slice, and how sure is that?
-- unit: calls, turns or chains, as the rate says; the rate is k / n
-- column rate: which rate, see callgauge/dashboard/measures/rates.py
-- column slice: the value of $by; 'all' without it, 'unknown' where the log names none
-- column also: the value of $also, a second dimension; 'all' without it
-- column k: observed with it
-- column n: of which it can be known
-- column total: all there are; total - n is unmeasured
-- column sessions: in which n was observed
-- column kk: sum over these sessions of k², as kn of k·n and nn of n²: what the interval needs to know how alike calls of one session are
-- note: A parse error is a call whose arguments were refused, by the harness or by our parser: not JSON, or not what the tool's definition asks for.
-- note: A retry is the same tool called again in a later step of the same turn after a fault, or what the log itself calls a retry. A turn counts once, however many retries it has.
-- note: Recorded ok is what the log says of a turn. Derived ok is what we conclude: it ended with an answer, no chain of attempts was abandoned and no call was lost.
-- note: Unmeasured is what the log cannot tell. It is in neither number of a rate: it counts neither as good nor as bad.
-- note: From the daily sums. Where tools are told apart or chosen, a turn counts for every tool that it called.
-- note: A session counts once for each day, model and prompt it saw, and, where tools are told apart, for each tool.
-- $by and $also: model, provider, prompt, prompt_name, tool, definition, strategy, source, harness_version, day.
WITH
chosen AS (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name
  FROM daily_rates c LEFT JOIN prompts p USING (prompt_id)
  WHERE list_contains($rates, rate)
    AND cut = CASE WHEN $tools IS NOT NULL OR $definitions IS NOT NULL OR coalesce($by, '') IN ('tool', 'definition')
                     OR coalesce($also, '') IN ('tool', 'definition') THEN 'tool' ELSE 'all' END
    AND {filters: tools, days, models, providers}
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(c.prompt_id, 'unknown')))
    AND {filters: sources, strategies, harness_versions}
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
