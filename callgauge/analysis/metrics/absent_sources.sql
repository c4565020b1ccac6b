-- title: Supported formats that are not in the store
-- question: Which other log formats can be read, and what does each contain?
-- unit: one row per format without a file in the store
SELECT source, coalesce(title, source) AS title,
       raw_arguments, argument_failures, error_flag, definitions, system_prompt, model, turn_end, cannot_tell
FROM sources
WHERE source NOT IN (SELECT source FROM files WHERE source IS NOT NULL)
ORDER BY title, source
