-- title: Diagnostics of one call
-- question: Which diagnostics did the parser report for one call, in order?
-- unit: one row per diagnostic
-- column span_start: first character of the span in the raw arguments; span_end: first character after it
SELECT d.position, d.code, d.stage, d.severity, coalesce(d.lossy, false) AS lossy, d.path, d.span_start, d.span_end,
       d.found, d.became, d.detail, c.summary, c.why
FROM diagnostics d LEFT JOIN codes c USING (code)
WHERE d.call_id = $call AND d.file_id = $file
ORDER BY d.position
