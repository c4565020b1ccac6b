-- What went wrong, without what is different each time: the calls in `unsigned_calls` that went wrong get the id
-- of a text in which paths, numbers, ids and quoted values are placeholders. No model is asked, and the same fault has
-- the same id in every night. Of a result the line speaks that says why: a traceback's last, else the first that names
-- an error; an exit code speaks only where no line does.

-- A message is kept to 500 characters; what made a program fail often stands behind them, in the result.
CREATE OR REPLACE TEMP MACRO told(fault_layer, parse_error, harness_message, result_text) AS CASE
    WHEN fault_layer IN ('emission', 'syntax', 'schema') AND parse_error <> '' THEN parse_error
    WHEN length(harness_message) >= 500 THEN coalesce(nullif(result_text, ''), harness_message)
    ELSE coalesce(nullif(harness_message, ''), result_text, '')
END;

-- trim() goes through all of a text, wherever its spaces are.
CREATE OR REPLACE TEMP MACRO trimmed(text) AS ltrim(if(ends_with(text, ' '), rtrim(text), text));

-- A result that is a JSON object says it in one of these, if anywhere.
CREATE OR REPLACE TEMP MACRO unwrapped(text) AS CASE
    WHEN text LIKE '{%' AND json_valid(text) THEN coalesce(
        nullif(text ->> '$.error.message', ''), nullif(text ->> '$.error', ''), nullif(text ->> '$.message', ''),
        nullif(text ->> '$.stderr', ''), nullif(text ->> '$.detail', ''), nullif(text ->> '$.output', ''), text
    )
    ELSE text
END;

-- Both ends of a long text.
CREATE OR REPLACE TEMP MACRO ends(text) AS
    if(length(text) > 4000, left(text, 2000) || chr(10) || right(text, 2000), text);

-- What harnesses, shells and test runners print around the reason: status lines, echoed commands, source code, rulers.
CREATE OR REPLACE TEMP MACRO without_frame(text) AS regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    text,
    '\x1b\[[0-9;]*[A-Za-z]', '', 'g'),
    '</?(?:tool_use_error|output|stdout|stderr|error|result)>', '', 'g'),
    '(?im)^\s*(?:exit code:? \d+|(?:process|command) exited with code \d+|<returncode>\s*-?\d+\s*</returncode>|(?:error: )?command failed \(exit code: \d+\)|<shellId:.*>|chunk id:.*|wall time:.*|original token count:.*|output:|.*\berror task failed|.*\belifecycle\b.*)\s*$', '', 'g'),
    '(?m)^(?:\s*[$>] .*|.*│.*)$', '', 'g'),
    '[=_~━─═*-]{4,}', '', 'g');

CREATE OR REPLACE TEMP MACRO exit_code(text) AS nullif(regexp_extract(
    text, '(?i)(?:\bexit(?:ed)?(?: with)?(?: exit)? ?(?:code|status)[ :=]*|<returncode>\s*)(-?\d+)', 1
), '');

CREATE OR REPLACE TEMP MACRO http_status(line) AS coalesce(
    nullif(regexp_extract(
        line, '(?i)\b(?:status(?:[ _]?code)?|http(?:/[\d.]+)?(?: error)?|error code|error:?)\s*[=:]?\s*([45]\d\d)\b', 1
    ), ''),
    nullif(regexp_extract(line, '(?i)\b([45]\d\d) (?:client|server) error', 1), '')
);

-- From the surest sign to the least. RE2 knows no look-behind, so each sign is a pattern of its own.
CREATE OR REPLACE TEMP MACRO speaking(text) AS coalesce(
    regexp_extract_all(text, 'Traceback \(most recent call last\):[ \t]*\r?\n(?:[ \t].*\r?\n|\r?\n)*([A-Za-z].*)', 1)[-1],
    nullif(regexp_extract(text, '(?m)^(?:E {2,}|\s*[×✗✖✘] )(\S.*)$', 1), ''),
    nullif(regexp_extract(
        text,
        '(?i)^\s*([^\n]*\b(?:errors?|\w+error|exception|fail(?:ed|ures?)?|denied|not found|no such|invalid|missing|refused|unknown|timed? ?out|cannot|must|unexpected)\b[^\n]*)',
        1
    ), ''),
    nullif(regexp_extract(text, '(?m)^\s*"(?:error|message|detail|reason)"\s*:\s*"(.{3,})",?\s*$', 1), ''),
    nullif(regexp_extract(
        text,
        '(?m)^[^\w\n]*(?:\[[^\]\n]*\]\s*)?(?:[^\s:]+:\s*){0,4}(?:(?i:errors?|fatal|fatal error|panic|exception|fail(?:ed|ure)?|aborted)|[\w.]*(?:Error|Exception))\b.*\S.*$'
    ), ''),
    nullif(regexp_extract(
        text,
        '(?im)^.*(?:\bno such\b|not found|\bcannot\b|\bcan.t\b|could ?n.t|could not|unable to|denied|not allowed|not permitted|no rule to|timed? ?out|unrecogni[sz]ed|\bundefined\b|and not used|already exists|does not exist|doesn.t exist|refused|unexpected|\binvalid\b|not supported|parse error|failed to|would have printed|rejected|cancell?ed|aborted).*$'
    ), ''),
    nullif(regexp_extract(text, '(?im)^.*\b(?:errors?|\w+error|exception|fail(?:s|ed|ures?)?|must|missing|unknown)\b.*$'), '')
);

-- Of several findings the distinct ones; the value that a list of values refuses, and the name of a tool that does not
-- exist, are different each time.
CREATE OR REPLACE TEMP MACRO distinct_findings(parse_error) AS array_to_string(list_sort(list_distinct(list_transform(
    regexp_extract_all(parse_error, '(?:^|; )([a-z_]+(?::(?:[^;]|;[^ ]|; [^a-z]|; [a-z_]+[^a-z_:;])*)?)', 1),
    lambda finding: regexp_replace(
        regexp_replace(finding, '^enum_out_of_range:.*$', 'enum_out_of_range:<value>', 's'),
        '^unknown_tool:.*$', 'unknown_tool:<name>', 's'
    )
))), '; ');

-- The patterns run in this order: a quoted path is a text, a list of texts a list.
CREATE OR REPLACE TEMP MACRO without_particulars(line) AS
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        left(line, 600),
        '<command>.*?</command>', '<text>', 'g'),
        '[a-z][a-z0-9+.-]*://[^\s"''`<>)\]]+', '<url>', 'g'),
        '"[^"]*"|`[^`'']*[`'']|“[^”]*”', '<text>', 'g'),
        '(^|[^\w])''[^'']*''', '\1<text>', 'g'),
        '(^|[\s(=:,<>])(?:[A-Za-z]:|~)?[\w.@+-]*(?:[/\\][\w.@+*-]+){2,}[/\\]?', '\1<path>', 'g'),
        '(^|[\s(=:,<>])(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@+*-]+[/\\]?', '\1<path>', 'g'),
        '(^|[\s(=:,<>])(?:[\w@+-]+[/\\])?[\w@+-]*(?:\.[\w-]+)*\.(?:py|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|cs|swift|sh|bash|json|jsonl|ya?ml|toml|ini|cfg|conf|md|rst|txt|csv|html?|css|sql|lock|log|xml|png|pdf|zip|gz)\b', '\1<path>', 'g'),
        '\[\]|\[[^\[\]]*[,<\d][^\[\]]*\]', '<list>', 'g'),
        '\[\]|\[[^\[\]]*[,<\d][^\[\]]*\]', '<list>', 'g'),
        '\{[^{}]*[:,<][^{}]*\}', '<object>', 'g'),
        '\b(?:0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]{4,})*|[a-f]{3,}[0-9][0-9a-f]*|[0-9]+[a-f]+[0-9][0-9a-f]*|[a-f]+[0-9]+[a-f][0-9a-f]*|[A-Z0-9]{2,}[0-9][A-Z][A-Z0-9]+|[0-9]+[A-Z][A-Z0-9]{3,})\b', '<id>', 'g'),
        '(\bno such (?:table|column): )\S+', '\1<name>', 'g'),
        '([A-Za-z_])\d{2,}', '\1<n>', 'g'),
        '(^|[^A-Za-z\d])[-+]?\d+(?:[.,:]\d+)*', '\1<n>', 'g');

-- One error or several, whichever shell says it, with or without "Error:" before it: the same fault.
CREATE OR REPLACE TEMP MACRO tidy(line) AS left(trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    line,
    '(<n> (?:\w+ )?)(error|warning|issue|problem|failure)(?:s|\(s\))?\b', '\1\2', 'g'),
    '^\s*(?:(?:ba|z)?sh: line <n>: |\(eval\):(?:\w+:)?<n>: ?|(?:ba|z)?sh:<n>: ?)', 'shell: ', 'g'),
    '(^\s*|: )(?:(?:Error|ERROR|error):\s+)+', '\1', 'g'),
    '\s+', ' ', 'g')), 200);

-- One step a query: a macro repeats its argument, and each of these is read several times. Rows stream through: a night of
-- long results does not fit into memory at once.
CREATE TEMP TABLE signed AS
WITH
    wrong AS (
        SELECT
            row, fault_layer, signature_id AS old,
            coalesce(fault_layer IN ('emission', 'syntax', 'schema')
                AND parse_error <> '' AND NOT starts_with(parse_error, 'refused_by_harness:'), false) AS ours,
            told(fault_layer, parse_error, harness_message, ends(result_text)) AS said
        FROM unsigned_calls WHERE fault_layer IS NOT NULL
    ),
    opened AS (SELECT * EXCLUDE (said), trimmed(unwrapped(ltrim(said))) AS opened FROM wrong),
    bared AS (SELECT *, without_frame(opened) AS bare, exit_code(opened) AS code FROM opened),
    -- A parse error is one line already, and all of it speaks.
    spoken AS (
        SELECT
            *,
            CASE
                WHEN ours THEN distinct_findings(opened)
                WHEN starts_with(opened, 'refused_by_harness:') THEN opened
                ELSE speaking(bare)
            END AS line
        FROM bared
    ),
    lines AS (
        SELECT
            row, fault_layer, old, if(line IS NULL, code, NULL) AS code,
            coalesce(
                line, nullif(regexp_extract(bare, '(?m)^.*[\pL\pN].*$'), ''), nullif(regexp_extract(opened, '(?m)^.*\S.*$'), '')
            ) AS line
        FROM spoken
    ),
    texts AS (
        SELECT
            row, fault_layer, old,
            coalesce(
                'exit code ' || code,
                nullif(tidy(without_particulars(line)) || coalesce(' · ' || http_status(line), ''), ''),
                'no reason logged'
            ) AS text
        FROM lines
    )
SELECT *, left(md5(fault_layer || chr(31) || lower(text)), 12) AS signature_id
FROM texts;

UPDATE tool_calls SET signature_id = s.signature_id FROM signed s
WHERE tool_calls.rowid = s.row AND s.old IS DISTINCT FROM s.signature_id;

UPDATE tool_calls SET signature_id = NULL
WHERE fault_layer IS NULL AND signature_id IS NOT NULL;

-- Texts that differ only by case are one; the first in the alphabet names it.
INSERT INTO signatures
SELECT signature_id, fault_layer, min(text) FROM signed
WHERE signature_id NOT IN (SELECT signature_id FROM signatures)
GROUP BY signature_id, fault_layer;

UPDATE signatures SET text = seen.text
FROM (SELECT signature_id, min(text) AS text FROM signed GROUP BY signature_id) seen
WHERE signatures.text IS NULL AND signatures.signature_id = seen.signature_id;

DROP TABLE signed;
