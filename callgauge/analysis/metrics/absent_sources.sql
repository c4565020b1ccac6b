-- title: Formats without data in the store
-- question: Which supported log formats have no file in the store, and what does each format contain?
-- unit: one row per supported format that has no file in the store
SELECT source, coalesce(title, source) AS title,
       raw_arguments, argument_failures, error_flag, definitions, system_prompt, model, turn_end, cannot_tell
FROM sources
WHERE source NOT IN (SELECT source FROM files WHERE source IS NOT NULL)
ORDER BY title, source
