-- title: Newest prompts
-- question: Which prompts have more than one version, and what are their newest and previous versions?
-- unit: one row per named prompt in one source; the most used prompt first
-- column newest: id of the newest version
-- column previous: id of the version before the newest
-- column turns: turns with any version of the prompt
-- note: Versions are ordered by the time of their first use, not by their version names.
WITH versions AS (
  SELECT source, name, prompt_id, sum(turns) AS turns, min(coalesce(first_ts, day::TIMESTAMP)) AS began
  FROM daily_prompts JOIN prompts USING (prompt_id) WHERE name IS NOT NULL AND {filters: trials}
  GROUP BY ALL
)
SELECT source, name, list(prompt_id ORDER BY began DESC NULLS LAST, prompt_id DESC)[1] AS newest,
       list(prompt_id ORDER BY began DESC NULLS LAST, prompt_id DESC)[2] AS previous, sum(turns)::BIGINT AS turns
FROM versions GROUP BY source, name HAVING count(*) > 1
ORDER BY turns DESC, source, name
LIMIT $limit
