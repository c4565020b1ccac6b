-- title: Trial runs
-- question: Which trial runs are loaded, and which parts of each run?
-- unit: one row per run, newest first
-- column run: name of the run in its sessions
-- column name: name of the run in its lock.json; NULL if lock.json was not loaded
-- column question: question of the run in its lock.json; NULL if lock.json was not loaded
-- column sessions: number of loaded trials
-- column planned: number of trials in lock.json; NULL if unknown
-- column looks: number of interim analyses
-- column path: path of the run's lock.json
-- column found: number of all runs; this answer is one page of them
WITH read AS (
  SELECT trial_run AS run, count(*) FILTER (arm IS NOT NULL) AS sessions, count(DISTINCT arm) AS arms, min(started_at) AS began,
         sum(calls) AS calls
  FROM sessions WHERE trial_run IS NOT NULL AND NOT coalesce(duplicate, false) GROUP BY trial_run
),
planned AS (
  SELECT run, name, question, created_at, tasks * repeats * json_array_length(arms) AS planned, file_id
  FROM trial_runs WHERE NOT duplicate
),
looked AS (SELECT run, count(DISTINCT look) AS looks FROM trial_looks WHERE NOT duplicate GROUP BY run)
SELECT run, name, question, coalesce(created_at, began) AS began, coalesce(arms, 0)::BIGINT AS arms,
       coalesce(read.sessions, 0)::BIGINT AS sessions, planned::BIGINT AS planned, coalesce(read.calls, 0)::BIGINT AS calls,
       coalesce(looks, 0)::BIGINT AS looks, path, (count(*) OVER ())::BIGINT AS found
FROM read FULL JOIN planned USING (run) LEFT JOIN looked USING (run) LEFT JOIN files USING (file_id)
ORDER BY began DESC NULLS LAST, run
LIMIT $limit OFFSET $offset
