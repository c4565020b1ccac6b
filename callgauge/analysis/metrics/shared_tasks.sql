-- title: Tasks in both slices
-- question: What is the rate of each slice on the tasks that both slices tried?
-- unit: tasks; k / n counts calls if the measure is parse errors, and trials (sessions) for the other measures
-- column origin: 'log' if the log names the task, 'first message' if the sessions begin with the same message
-- column a_k: number of hits in slice A's trials of the task
-- column a_n: number of observations in slice A's trials of the task
-- column b_k: number of hits in slice B
-- column b_n: number of observations in slice B
-- column tasks: tasks with exactly these numbers
-- note: A task is a name in the log, or a first message of at least 40 characters with which several sessions begin.
-- note: A trial passes if none of its turns failed. Turns whose success is unknown are ignored.
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
