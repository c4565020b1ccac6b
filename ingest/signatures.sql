-- What went wrong, without what is different each time: calls of the days in `touched_days` that went wrong get the id
-- of a text in which paths, numbers, ids and quoted values are placeholders. No model is asked, and the same fault has
-- the same id in every night. Of a result the line that names an error speaks, else its first.

CREATE OR REPLACE TEMP MACRO told(fault_layer, parse_error, harness_message, result_text) AS trim(
    CASE
        WHEN fault_layer IN ('emission', 'syntax', 'schema')
            THEN coalesce(nullif(parse_error, ''), nullif(harness_message, ''), result_text, '')
        ELSE coalesce(nullif(harness_message, ''), result_text, '')
    END
);

CREATE OR REPLACE TEMP MACRO speaking(text) AS coalesce(
    nullif(regexp_extract(
        left(text, 4000),
        '(?im)^.*(error|exception|fail|denied|not found|no such|invalid|missing|refused|unknown|timed? ?out|cannot|must).*$'
    ), ''),
    nullif(regexp_extract(left(text, 4000), '(?im)^.*\b(exit|return) ?(code|status|ed with).*$'), ''),
    nullif(regexp_extract(text, '(?m)^.*\S.*$'), ''),
    ''
);

-- A result that is a JSON object says it in one of these, if anywhere.
CREATE OR REPLACE TEMP MACRO unwrapped(text) AS CASE
    WHEN text LIKE '{%' AND json_valid(text) THEN coalesce(
        nullif(text ->> '$.error.message', ''), nullif(text ->> '$.error', ''), nullif(text ->> '$.message', ''),
        nullif(text ->> '$.stderr', ''), nullif(text ->> '$.detail', ''), nullif(text ->> '$.output', ''), text
    )
    ELSE text
END;

CREATE OR REPLACE TEMP MACRO without_particulars(line) AS left(trim(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        left(line, 600),
        '\x1b\[[0-9;]*[A-Za-z]', '', 'g'),
        '[a-z][a-z0-9+.-]*://[^\s"''`<>)\]]+', '<url>', 'g'),
        '(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\][\w.@+-]+){2,}[/\\]?', '<path>', 'g'),
        '\[(?:[^\[\]]|\[[^\[\]]*\])*\]', '<list>', 'g'),
        '"[^"]*"|''[^'']*''|`[^`]*`|“[^”]*”', '<text>', 'g'),
        '\b(?:0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*|[0-9]+[a-f]+[0-9][0-9a-f]*|[a-f]+[0-9]+[a-f][0-9a-f]*)\b', '<id>', 'g'),
        '[-+]?\d+(?:[.,:]\d+)*', '<n>', 'g')
), 200);

-- One step a table: a macro repeats its argument, and each of these is read several times.
CREATE TEMP TABLE signed AS
WITH
    wrong AS (
        SELECT
            rowid AS row, fault_layer, signature_id AS old,
            told(fault_layer, parse_error, harness_message, left(result_text, 20000)) AS said
        FROM tool_calls
        WHERE fault_layer IS NOT NULL AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM tool_calls.day)
    ),
    distinct_said AS MATERIALIZED (SELECT DISTINCT said FROM wrong),
    opened AS MATERIALIZED (SELECT said, unwrapped(said) AS opened FROM distinct_said),
    spoken AS MATERIALIZED (SELECT said, speaking(opened) AS line FROM opened),
    texts AS MATERIALIZED (
        SELECT said, coalesce(nullif(regexp_replace(without_particulars(line), '\s+', ' ', 'g'), ''), 'no reason logged') AS text
        FROM spoken
    )
SELECT row, fault_layer, text, left(md5(fault_layer || chr(31) || text), 12) AS signature_id, old
FROM wrong JOIN texts USING (said);

UPDATE tool_calls SET signature_id = s.signature_id FROM signed s
WHERE tool_calls.rowid = s.row AND s.old IS DISTINCT FROM s.signature_id;

UPDATE tool_calls SET signature_id = NULL
WHERE fault_layer IS NULL AND signature_id IS NOT NULL;

INSERT INTO signatures
SELECT DISTINCT signature_id, fault_layer, text FROM signed
WHERE signature_id NOT IN (SELECT signature_id FROM signatures);

DROP TABLE signed;
