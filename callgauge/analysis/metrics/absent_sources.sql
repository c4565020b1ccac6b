-- title: Formats without a file here
-- question: Which other log formats can be read, and what could each tell?
-- unit: one row a format of which the store holds no file
SELECT source, coalesce(title, source) AS title,
       raw_arguments, argument_failures, error_flag, definitions, system_prompt, model, turn_end, cannot_tell
FROM sources
WHERE source NOT IN (SELECT source FROM files WHERE source IS NOT NULL)
ORDER BY title, source
