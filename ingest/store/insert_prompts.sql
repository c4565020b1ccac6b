-- Prompts, which many files tell: the first of each, and a later text where that has none.
MERGE INTO prompts USING (
    SELECT prompt_id, any_value(name) AS name, any_value(version) AS version,
           arg_min(text, line) AS text, arg_min(text_hash, line) AS text_hash
    FROM (SELECT *, row_number() OVER () AS line FROM incoming)
    WHERE prompt_id IS NOT NULL GROUP BY prompt_id
) AS seen ON prompts.prompt_id = seen.prompt_id
WHEN MATCHED AND prompts.text IS NULL AND seen.text IS NOT NULL
    THEN UPDATE SET text = seen.text, text_hash = seen.text_hash
WHEN NOT MATCHED THEN INSERT (prompt_id, name, version, text, text_hash)
    VALUES (seen.prompt_id, seen.name, seen.version, seen.text, seen.text_hash);
INSERT INTO prompt_texts
SELECT prompt_id, text_hash, any_value(text) FROM incoming
ANTI JOIN prompt_texts USING (prompt_id, text_hash)
WHERE text IS NOT NULL GROUP BY prompt_id, text_hash;
