-- title: Repeated tasks
-- question: How often was each task tried, and how many of its trials passed?
-- unit: tasks; pass^k is the mean over tasks of C(passed, k) / C(trials, k)
-- days: kept apart
-- column trials: sessions that tried the task and whose success is known
-- column passed: number of these trials that passed
-- column tasks: tasks with exactly these numbers of trials and passes
-- note: pass^k is the probability that all of k trials of a task pass (tau-bench, arXiv 2406.12045). Tasks with fewer than k trials are left out.
-- note: A task is a name in the log, or a first message of at least 40 characters with which several sessions begin.
-- note: A trial passes if none of its turns failed. Turns whose success is unknown are ignored.
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
