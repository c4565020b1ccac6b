-- title: Versions of a prompt or tool
-- question: Which texts has this prompt had, or which definitions has this tool had?
-- unit: one row per version, newest first
-- note: Versions are numbered in the order in which they first appear in the loaded logs, so loading older logs can change the numbers. A version is identified by the hash of its text.
-- note: A prompt without a name has only one version, which has the prompt's id.
-- column number: 1 = the version that appeared first
-- column version: version name in the log; only for prompts
-- column uses: number of turns with the prompt version, or of calls with the definition
WITH texts AS (
  SELECT prompt_id AS id, prompt_hash AS hash, version, sum(turns) AS uses,
         min(first_ts) AS began, min(day) AS first_day, max(day) AS last_day
  FROM daily_prompts LEFT JOIN prompts USING (prompt_id)
  WHERE $kind = 'prompt' AND ($source IS NULL OR source = $source) AND prompt_hash IS NOT NULL AND {filters: trials}
    AND (coalesce(name, '') = $name OR (name IS NULL AND prompt_id = $name))
  GROUP BY ALL
  UNION ALL
  SELECT definition_id, definition_id, NULL, sum(calls), min(first_ts), min(day), max(day)
  FROM daily_definitions
  WHERE $kind = 'tool' AND ($source IS NULL OR source = $source) AND coalesce(tool, '') = $name AND {filters: trials}
  GROUP BY ALL
)
SELECT row_number() OVER (ORDER BY began NULLS FIRST, version, hash)::BIGINT AS number,
       id, hash, version, began, first_day, last_day, uses::BIGINT AS uses
FROM texts
ORDER BY number DESC
LIMIT coalesce($limit, 200)
