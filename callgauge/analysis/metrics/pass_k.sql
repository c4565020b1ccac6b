-- title: Tasks tried again
-- question: How often was a task tried, and how many of its trials passed?
-- unit: tasks; pass^k is the mean over tasks of C(passed, k) / C(trials, k)
-- days: kept apart
-- column trials: sessions that tried the task and whose end can be judged
-- column passed: of these trials
-- column tasks: how many tasks have just these numbers
-- note: pass^k is the chance that k trials of a task all pass (tau-bench, arXiv 2406.12045), over the tasks with at least k trials.
-- note: A task is what the log names as one, or else a first message of 40 characters or more that sessions share.
-- note: A trial passed when none of its turns that could be judged failed.
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
