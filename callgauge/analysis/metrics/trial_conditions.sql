-- title: Conditions of a trial run
-- question: Which conditions were the same for all variants of a run, and which conditions differed?
-- unit: one row per variant; each list contains the distinct values of the variant's trials
-- column harnesses: name and version of the harness
-- column parsers: versions of our parser
-- column samplings: the sampling parameters that were sent, as JSON
-- column tools: tools offered
SELECT s.arm, count(*) AS trials,
       list_sort(list(DISTINCT u.model)) AS models, list_sort(list(DISTINCT u.provider)) AS providers,
       list_sort(list(DISTINCT trim(concat_ws(' ', s.harness, s.harness_version)))) AS harnesses,
       list_sort(list(DISTINCT s.sampling)) AS samplings, list_sort(list(DISTINCT u.prompt_id)) AS prompts,
       list_sort(list(DISTINCT u.offered_tools)) AS tools,
       any_value(c.strategies) AS strategies, any_value(c.parsers) AS parsers,
       min(coalesce(u.ts, s.started_at)) AS first_at, max(coalesce(u.ended_at, u.ts)) AS last_at
FROM sessions s
JOIN turns u ON u.source = s.source AND u.session_id = s.session_id AND u.trial_run = $run AND NOT u.duplicate
LEFT JOIN (
  SELECT arm, list_sort(list(DISTINCT strategy)) AS strategies, list_sort(list(DISTINCT parser_version)) AS parsers
  FROM tool_calls WHERE trial_run = $run AND NOT duplicate GROUP BY arm
) c ON c.arm = s.arm
WHERE s.trial_run = $run AND s.arm IS NOT NULL AND NOT s.duplicate
GROUP BY s.arm ORDER BY s.arm
