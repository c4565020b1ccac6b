-- title: Trial runs
-- question: Which trial runs does the store contain, and how far has each run come?
-- unit: one row per run, newest first
-- column tasks: number of planned tasks
-- column tasks_tried: tasks that at least one variant tried
-- column trials: trials
-- column no_reply: number of trials without a reply from the endpoint, which are not measured
-- column cost: cost in USD of the trials whose cost is known
-- column unpriced: number of trials whose cost is unknown
-- column last_at: time at which the newest trial ended
-- column decisions: latest interim verdict on each variant: variant (arm), number of the analysis (look), number of tasks, decision
-- note: A trial run is identified by its file lock.json, which is written before the first request.
-- $run: one run; NULL = all.
WITH chosen AS (
  SELECT * FROM trial_runs WHERE NOT duplicate AND ($run IS NULL OR run = $run)
),
tried AS (
  SELECT s.trial_run AS run, count(*) AS trials, count(DISTINCT s.task) AS tasks_tried,
         count(*) FILTER (starts_with(u.answer_text, '(no reply)') AND u.recorded_status IS DISTINCT FROM 'prompt_limit') AS no_reply,
         sum(u.cost) AS cost, count(*) FILTER (u.cost IS NULL) AS unpriced,
         sum(u.input_tokens + u.output_tokens) AS tokens, max(coalesce(u.ended_at, u.ts)) AS last_at
  FROM sessions s
  JOIN turns u ON u.source = s.source AND u.session_id = s.session_id AND NOT u.duplicate
  WHERE s.trial_run IS NOT NULL AND s.arm IS NOT NULL AND NOT s.duplicate
    AND ($run IS NULL OR (s.trial_run = $run AND u.trial_run = $run))
  GROUP BY s.trial_run
),
decided AS (
  SELECT run, list({'arm': arm, 'look': look, 'tasks': tasks, 'decision': decision} ORDER BY look, arm) AS decisions
  FROM (SELECT DISTINCT ON (run, arm) * FROM trial_looks WHERE NOT duplicate ORDER BY run, arm, look DESC)
  GROUP BY run
)
SELECT c.run, name, question, created_at, primary_measure, smallest, alpha, reference, looks, secondary, tasks, repeats,
       look_at, boundaries, budget_cost, budget_tokens, budget_minutes, arms::VARCHAR AS arms,
       task_order::VARCHAR AS task_order, task_groups::VARCHAR AS task_groups, endpoints::VARCHAR AS endpoints, versions::VARCHAR AS versions, seed, max_steps,
       coalesce(trials, 0) AS trials, coalesce(tasks_tried, 0) AS tasks_tried, coalesce(no_reply, 0) AS no_reply,
       cost, coalesce(unpriced, 0) AS unpriced, tokens::BIGINT AS tokens, last_at, coalesce(decisions, []) AS decisions
FROM chosen c LEFT JOIN tried USING (run) LEFT JOIN decided USING (run)
ORDER BY created_at DESC NULLS LAST, c.run
