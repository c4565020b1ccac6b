-- Adds new prompts. Many files contain the same prompt, so each is added once. A stored prompt without a text gets the first
-- incoming text.
MERGE INTO prompts USING (
    SELECT prompt_id, any_value(name) AS name, any_value(version) AS version,
           arg_min(text, line) AS text, arg_min(text_hash, line) AS text_hash
    FROM (SELECT *, row_number() OVER () AS line FROM incoming)
    WHERE prompt_id IS NOT NULL GROUP BY prompt_id
) AS incoming_prompts ON prompts.prompt_id = incoming_prompts.prompt_id
WHEN MATCHED AND prompts.text IS NULL AND incoming_prompts.text IS NOT NULL
    THEN UPDATE SET text = incoming_prompts.text, text_hash = incoming_prompts.text_hash
WHEN NOT MATCHED THEN INSERT (prompt_id, name, version, text, text_hash)
    VALUES (
        incoming_prompts.prompt_id, incoming_prompts.name, incoming_prompts.version, incoming_prompts.text,
        incoming_prompts.text_hash
    );
INSERT INTO prompt_texts
SELECT prompt_id, text_hash, any_value(text) FROM incoming
ANTI JOIN prompt_texts USING (prompt_id, text_hash)
WHERE text IS NOT NULL GROUP BY prompt_id, text_hash;
