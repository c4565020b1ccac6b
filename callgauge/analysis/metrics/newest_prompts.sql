-- title: Newest prompts
-- question: Which prompts have more than one version, and which are the newest and the previous one?
-- unit: one row per named prompt of one source, most used first
-- column newest: id of the newest version; previous: id of the version before
-- column turns: turns with any version
-- note: Ordered by the time at which a version was first used, not by its number.
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
