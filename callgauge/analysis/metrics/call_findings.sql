-- title: Diagnostics of one call
-- question: Which diagnostics did the parser report for one call, in order?
-- unit: one row per diagnostic
-- column span_start: position of the diagnostic's first character in the raw arguments
-- column span_end: position after its last character
SELECT d.position, d.code, d.stage, d.severity, coalesce(d.lossy, false) AS lossy, d.path, d.span_start, d.span_end,
       d.found, d.became, d.detail, c.summary, c.why
FROM diagnostics d LEFT JOIN codes c USING (code)
WHERE d.call_id = $call AND d.file_id = $file
ORDER BY d.position
