-- title: Names of models
-- question: Under which names do the logs know a model, and which of them count as one?
-- unit: one row a name, those of the most used model together
-- column model: as which the name counts. model_name: the name as it was found
-- column model_source: where the name was found: log, path (of the file), given (with --model)
-- column rule: why it counts as another model: variant, host, spelling, date (our rules), naming.toml, callgauge.toml; NULL = it does not
-- column steps: model calls of turns
-- column found: all names that match, of which this is one page
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
