-- title: Names of models
-- question: Which names do the logs use for models, and which of these names mean the same model?
-- unit: one row per name; names of the most used model first
-- column model: the model to which the name is mapped
-- column model_name: the name in the log, path or option
-- column model_source: where the name was found: log, path (path of the file) or given (option --model)
-- column rule: the rule that maps the name: variant, host, spelling or date (built in), naming.toml, callgauge.toml; NULL = not mapped
-- column steps: number of model calls with this name
-- column found: number of all matching names; this answer is one page of them
WITH named AS (
  SELECT t.model, t.model_name, t.model_source, a.rule, coalesce(sum(t.steps), 0)::BIGINT AS steps
  FROM turns t LEFT JOIN model_aliases a USING (model_name, model)
  WHERE t.model IS NOT NULL AND NOT t.duplicate AND ($sources IS NULL OR list_contains($sources, t.source)) AND {filters: trials}
  GROUP BY ALL
)
SELECT *, (count(*) OVER ())::BIGINT AS found
FROM named
ORDER BY sum(steps) OVER (PARTITION BY model) DESC, model, steps DESC, model_name, model_source
LIMIT $limit OFFSET $offset
