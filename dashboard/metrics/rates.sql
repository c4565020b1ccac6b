-- title: Headline rates
-- question: How well do tool calls work, by model, by prompt or over all?
-- unit: calls for parse_* and mend_*, turns for the rest; a rate is *_k / *_n
-- column slice: the model or prompt; 'all' without $by; 'unknown' where the log names none
-- column parse_k: calls whose arguments were refused, by the harness or by us, at the syntax or the schema layer
-- column parse_n: calls of which that can be known
-- column mend_k: calls whose arguments were coerced or repaired
-- column mend_n: calls whose text or definition we have, so that a mend can be seen
-- column mend_refused: mended calls whose arguments the harness itself had refused; parse_k counts them too
-- column retry_k: turns with at least one retry
-- column recorded_k: turns that the log calls successful, of recorded_n that it judges
-- column derived_k: turns that ended with an answer, no chain of attempts abandoned, no call lost; of derived_n
-- column both_n: turns with both verdicts
-- column disagree: turns of both_n of which the log and our conclusion say the opposite
-- note: A parse error is a call whose arguments were refused, by the harness or by our parser: not JSON, or not what the tool's definition asks for.
-- note: Mended is a call whose arguments only fit after a repair of the text or a change of a value's type. The harness may have refused it all the same; then it counts in both rates.
-- note: A retry is the same tool called again in a later step of the same turn after a fault, or what the log itself calls a retry. A turn counts once, however many retries it has.
-- note: Recorded ok is what the log says of a turn. Derived ok is what we conclude: it ended with an answer, no chain of attempts was abandoned and no call was lost.
-- note: Unmeasured is what the log cannot tell. It is in neither number of a rate: it counts neither as good nor as bad.
-- With tools chosen, a turn counts when it called one of them; that needs the facts instead of the daily sums.
WITH chosen_calls AS (
  SELECT CASE $by WHEN 'model' THEN coalesce(model, 'unknown') WHEN 'prompt' THEN coalesce(prompt_id, 'unknown')
         ELSE 'all' END AS slice,
         calls, fault_syntax + fault_schema AS parse_k, parse_known AS parse_n,
         coerced + repaired AS mend_k, mend_known AS mend_n, mended_refused AS mend_refused
  FROM daily_calls
  WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
    AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
),
turn_facts AS (
  SELECT day, source, model, prompt_id, turns, retried, recorded_known, recorded_ok, derived_known, derived_ok,
         both_known, disagree
  FROM daily_turns WHERE $tools IS NULL
  UNION ALL
  SELECT day, source, model, prompt_id, 1, (retries > 0)::INTEGER,
         (recorded_ok IS NOT NULL)::INTEGER, coalesce(recorded_ok, false)::INTEGER,
         (derived_ok IS NOT NULL)::INTEGER, coalesce(derived_ok, false)::INTEGER,
         (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL)::INTEGER, coalesce(recorded_ok <> derived_ok, false)::INTEGER
  FROM turns
  WHERE $tools IS NOT NULL AND NOT coalesce(duplicate, false) AND turn_id IN (
    SELECT turn_id FROM tool_calls WHERE NOT coalesce(duplicate, false) AND list_contains($tools, coalesce(tool, 'unknown')))
),
chosen_turns AS (
  SELECT CASE $by WHEN 'model' THEN coalesce(model, 'unknown') WHEN 'prompt' THEN coalesce(prompt_id, 'unknown')
         ELSE 'all' END AS slice, *
  FROM turn_facts
  WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
),
of_calls AS (
  SELECT slice, sum(calls) AS calls, sum(parse_k) AS parse_k, sum(parse_n) AS parse_n,
         sum(mend_k) AS mend_k, sum(mend_n) AS mend_n, sum(mend_refused) AS mend_refused
  FROM chosen_calls GROUP BY slice
),
of_turns AS (
  SELECT slice, sum(turns) AS turns, sum(retried) AS retry_k, sum(recorded_ok) AS recorded_k,
         sum(recorded_known) AS recorded_n, sum(derived_ok) AS derived_k, sum(derived_known) AS derived_n,
         sum(both_known) AS both_n, sum(disagree) AS disagree
  FROM chosen_turns GROUP BY slice
)
SELECT slice,
       coalesce(calls, 0)::BIGINT AS calls,
       coalesce(parse_k, 0)::BIGINT AS parse_k, coalesce(parse_n, 0)::BIGINT AS parse_n,
       coalesce(mend_k, 0)::BIGINT AS mend_k, coalesce(mend_n, 0)::BIGINT AS mend_n,
       coalesce(mend_refused, 0)::BIGINT AS mend_refused,
       coalesce(turns, 0)::BIGINT AS turns, coalesce(retry_k, 0)::BIGINT AS retry_k,
       coalesce(recorded_k, 0)::BIGINT AS recorded_k, coalesce(recorded_n, 0)::BIGINT AS recorded_n,
       coalesce(derived_k, 0)::BIGINT AS derived_k, coalesce(derived_n, 0)::BIGINT AS derived_n,
       coalesce(both_n, 0)::BIGINT AS both_n, coalesce(disagree, 0)::BIGINT AS disagree
FROM of_calls FULL JOIN of_turns USING (slice)
ORDER BY calls DESC, slice
