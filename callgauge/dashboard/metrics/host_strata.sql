-- title: Hosts at the same mix
-- question: What work did each host of a model get, and how did it go in each part of it?
-- unit: calls, turns or chains, as the rate says; one row a model, host and stratum
-- column slice: the value of $by in this stratum
-- column also: the value of $also
-- column k: observed with it
-- column n: of which it can be known
-- column total: all there are; total - n is unmeasured
-- column sessions: in which n was observed
-- column kk: sum over these sessions of k², as kn of k·n and nn of n²
-- note: Two hosts of one model may get different work: the one that serves the harder tools looks worse. Each stratum is compared with itself, and the differences are added up at the mix of the two hosts together (direct standardisation).
-- note: Only models that several known hosts serve. From the daily sums.
-- $by and $also: tool and strategy, or prompt and source.
WITH
chosen AS (
  SELECT * FROM daily_rates
  WHERE list_contains($rates, rate) AND provider IS NOT NULL AND n > 0
    AND cut = CASE WHEN $tools IS NOT NULL OR $by = 'tool' THEN 'tool' ELSE 'all' END
    AND {filters: tools, days, models, prompts, sources}
)
SELECT
  rate, coalesce(model, 'unknown') AS model, provider,
  coalesce(if($by = 'tool', tool, prompt_id), 'unknown') AS slice,
  coalesce(if($also = 'strategy', strategy, source), 'unknown') AS also,
  sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions,
  sum(kk)::BIGINT AS kk, sum(kn)::BIGINT AS kn, sum(nn)::BIGINT AS nn
FROM chosen
WHERE coalesce(model, 'unknown') IN (
  SELECT coalesce(model, 'unknown') FROM chosen GROUP BY ALL HAVING count(DISTINCT provider) > 1
)
GROUP BY ALL
ORDER BY rate, model, provider, total DESC, slice, also
