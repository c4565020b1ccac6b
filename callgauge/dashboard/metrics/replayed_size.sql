-- title: Calls that a replay would read
-- question: How many calls does the slice hold, and which versions of the parser read them?
-- unit: one row a version of the parser
-- column readable: calls whose text the store has, as the model sent it or written anew by the log
SELECT coalesce(parser_version, 'unknown') AS version, count(*)::BIGINT AS calls,
       count(*) FILTER (args_source IN ('raw', 'reserialised'))::BIGINT AS readable
FROM tool_calls
WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
  AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
  AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
  AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
  AND ($sources IS NULL OR list_contains($sources, source))
  AND NOT coalesce(duplicate, false)
GROUP BY 1
ORDER BY calls DESC, version
