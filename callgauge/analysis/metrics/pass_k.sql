-- title: Repeated tasks
-- question: How often was a task tried, and how many of its trials passed?
-- unit: tasks; pass^k is the mean over tasks of C(passed, k) / C(trials, k)
-- days: kept apart
-- column trials: sessions that tried the task and whose success is known
-- column passed: those that passed
-- column tasks: tasks with exactly these numbers
-- note: pass^k is the chance that k trials of a task all pass (tau-bench, arXiv 2406.12045). Tasks with fewer than k trials are left out.
-- note: A task is named by the log, or is a first message of 40 characters or more that several sessions share.
-- note: A trial passes if no judged turn of it failed.
-- $measure: turn_success, recorded_ok or derived_ok.
WITH outcomes AS (
  SELECT task, CASE $measure WHEN 'recorded_ok' THEN recorded_ok WHEN 'derived_ok' THEN derived_ok
           ELSE coalesce(recorded_ok, derived_ok) END AS ok FROM task_trials
  WHERE true
    AND {filters: days, models, providers, prompts, sources, trials}
),
of_tasks AS (
  SELECT task, count(ok) AS trials, count(*) FILTER (ok) AS passed FROM outcomes GROUP BY task HAVING count(ok) > 0
)
SELECT trials::BIGINT AS trials, passed::BIGINT AS passed, count(*)::BIGINT AS tasks
FROM of_tasks GROUP BY ALL ORDER BY trials, passed
