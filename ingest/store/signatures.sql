-- Assigns an error signature to each failed call in `unsigned_calls`. A signature is an error text in which paths, numbers, ids
-- and quoted values are placeholders. Rules make the text, not a model, so the same error always has the same id. The text is
-- the line of the result that names the reason: the last line of a traceback, else the first line that names an error. An exit
-- code counts only if no line names an error.

-- A message is cut at 500 characters. The reason often comes later, so the result replaces a message of this length.
CREATE OR REPLACE TEMP MACRO error_text(fault_layer, parse_error, harness_message, result_text) AS CASE
    WHEN fault_layer IN ('emission', 'syntax', 'schema') AND parse_error <> '' THEN parse_error
    WHEN length(harness_message) >= 500 THEN coalesce(nullif(result_text, ''), harness_message)
    ELSE coalesce(nullif(harness_message, ''), result_text, '')
END;

-- Equals trim(text), but is faster: rtrim() reads the whole text, so it is used only if the text ends with a space.
CREATE OR REPLACE TEMP MACRO trimmed(text) AS ltrim(if(ends_with(text, ' '), rtrim(text), text));

-- If a result is a JSON object, the reason is in one of these fields.
CREATE OR REPLACE TEMP MACRO unwrapped(text) AS CASE
    WHEN text LIKE '{%' AND json_valid(text) THEN coalesce(
        nullif(text ->> '$.error.message', ''), nullif(text ->> '$.error', ''), nullif(text ->> '$.message', ''),
        nullif(text ->> '$.stderr', ''), nullif(text ->> '$.detail', ''), nullif(text ->> '$.output', ''), text
    )
    ELSE text
END;

-- The beginning and the end of a long text.
CREATE OR REPLACE TEMP MACRO ends(text) AS
    if(length(text) > 4000, left(text, 2000) || chr(10) || right(text, 2000), text);

-- Removes what agents, shells and test runners print around the reason: status lines, echoed commands, source code, separators.
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

-- The line that names the reason, from the most to the least reliable pattern. RE2 has no look-behind, so each kind of line has
-- its own pattern.
CREATE OR REPLACE TEMP MACRO reason_line(text) AS coalesce(
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

-- The distinct diagnostics of a parse error. The value outside an enum and the name of an unknown tool become placeholders,
-- because they differ from call to call.
CREATE OR REPLACE TEMP MACRO distinct_findings(parse_error) AS array_to_string(list_sort(list_distinct(list_transform(
    regexp_extract_all(parse_error, '(?:^|; )([a-z_]+(?::(?:[^;]|;[^ ]|; [^a-z]|; [a-z_]+[^a-z_:;])*)?)', 1),
    lambda finding: regexp_replace(
        regexp_replace(finding, '^enum_out_of_range:.*$', 'enum_out_of_range:<value>', 's'),
        '^unknown_tool:.*$', 'unknown_tool:<name>', 's'
    )
))), '; ');

-- The order of the patterns matters: a quoted path becomes a text, and a list of texts becomes a list.
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

-- Makes variants of an error equal: one or several errors, the prefixes of shells, and a leading "Error:".
CREATE OR REPLACE TEMP MACRO without_variants(line) AS left(trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    line,
    '(<n> (?:\w+ )?)(error|warning|issue|problem|failure)(?:s|\(s\))?\b', '\1\2', 'g'),
    '^\s*(?:(?:ba|z)?sh: line <n>: |\(eval\):(?:\w+:)?<n>: ?|(?:ba|z)?sh:<n>: ?)', 'shell: ', 'g'),
    '(^\s*|: )(?:(?:Error|ERROR|error):\s+)+', '\1', 'g'),
    '\s+', ' ', 'g')), 200);

-- A macro repeats its argument, and most values are used several times, so each step is a CTE of its own. Rows are streamed,
-- because the long results of one load may not fit into memory.
CREATE TEMP TABLE signed AS
WITH
    failed_calls AS (
        SELECT
            row, fault_layer, signature_id AS old,
            coalesce(fault_layer IN ('emission', 'syntax', 'schema')
                AND parse_error <> '' AND NOT starts_with(parse_error, 'refused_by_harness:'), false) AS is_parse_error,
            error_text(fault_layer, parse_error, harness_message, ends(result_text)) AS message
        FROM unsigned_calls WHERE fault_layer IS NOT NULL
    ),
    content AS (SELECT * EXCLUDE (message), trimmed(unwrapped(ltrim(message))) AS content FROM failed_calls),
    bare_texts AS (SELECT *, without_frame(content) AS bare, exit_code(content) AS code FROM content),
    -- A parse error is already one line and is used whole.
    reasons AS (
        SELECT
            *,
            CASE
                WHEN is_parse_error THEN distinct_findings(content)
                WHEN starts_with(content, 'refused_by_harness:') THEN content
                ELSE reason_line(bare)
            END AS line
        FROM bare_texts
    ),
    lines AS (
        SELECT
            row, fault_layer, old, if(line IS NULL, code, NULL) AS code,
            coalesce(
                line, nullif(regexp_extract(bare, '(?m)^.*[\pL\pN].*$'), ''), nullif(regexp_extract(content, '(?m)^.*\S.*$'), '')
            ) AS line
        FROM reasons
    ),
    texts AS (
        SELECT
            row, fault_layer, old,
            coalesce(
                'exit code ' || code,
                nullif(without_variants(without_particulars(line)) || coalesce(' · ' || http_status(line), ''), ''),
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

-- Texts that differ only in case have the same signature. The alphabetically first one is stored.
INSERT INTO signatures
SELECT signature_id, fault_layer, min(text) FROM signed
WHERE signature_id NOT IN (SELECT signature_id FROM signatures)
GROUP BY signature_id, fault_layer;

UPDATE signatures SET text = seen.text
FROM (SELECT signature_id, min(text) AS text FROM signed GROUP BY signature_id) seen
WHERE signatures.text IS NULL AND signatures.signature_id = seen.signature_id;

DROP TABLE signed;
