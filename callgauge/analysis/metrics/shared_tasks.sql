-- title: Tasks that both slices saw
-- question: Of the tasks that both slices tried, how did each slice do?
-- unit: tasks; k / n counts calls of parse errors, and trials (sessions) of the other measures
-- column origin: who says that it is the same task: 'log' names it, or the sessions begin with the same 'first message'
-- column a_k: of slice A, over its trials of the task; of a_n on which it was measured. b_k and b_n of slice B
-- column tasks: how many tasks have just these numbers
-- note: A task is what the log names as one, or else a first message of 40 characters or more that sessions share.
-- note: A trial passed when none of its turns that could be judged failed.
-- $measure: parse_error, turn_success, recorded_ok or derived_ok. $a_… and $b_… are the filters of the slices.
WITH
tried AS (
  SELECT *,
    CASE $measure WHEN 'parse_error' THEN parse_k WHEN 'recorded_ok' THEN recorded_ok::BIGINT WHEN 'derived_ok' THEN derived_ok::BIGINT
      ELSE coalesce(recorded_ok, derived_ok)::BIGINT END AS k,
    CASE $measure WHEN 'parse_error' THEN parse_n WHEN 'recorded_ok' THEN (recorded_ok IS NOT NULL)::BIGINT
      WHEN 'derived_ok' THEN (derived_ok IS NOT NULL)::BIGINT ELSE (coalesce(recorded_ok, derived_ok) IS NOT NULL)::BIGINT END AS n
  FROM task_trials
),
a AS (
  SELECT task, any_value(task_origin) AS origin, sum(k)::BIGINT AS a_k, sum(n)::BIGINT AS a_n FROM tried
  WHERE n > 0
    AND {filters a_: days, models, providers, prompts, sources, trials}
  GROUP BY task
),
b AS (
  SELECT task, sum(k)::BIGINT AS b_k, sum(n)::BIGINT AS b_n FROM tried
  WHERE n > 0
    AND {filters b_: days, models, providers, prompts, sources, trials}
  GROUP BY task
)
SELECT origin, a_k, a_n, b_k, b_n, count(*)::BIGINT AS tasks
FROM a JOIN b USING (task)
GROUP BY ALL ORDER BY ALL
