-- title: Newest prompts
-- question: Which prompts have more than one version, and which came last and just before it?
-- unit: one row a named prompt of one source, the most used first
-- column newest: the id of the version that came last; previous: of the one before
-- column turns: with any version
-- note: By the time at which a version was first in force, not by its number.
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
