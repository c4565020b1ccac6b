-- title: Diagnostics of one call
-- question: What did the parser find in the arguments of one call, in order?
-- unit: one row a finding
-- column span_start: character of the raw arguments at which it begins; span_end is the first after it
SELECT d.position, d.code, d.stage, d.severity, coalesce(d.lossy, false) AS lossy, d.path, d.span_start, d.span_end,
       d.found, d.became, d.detail, c.summary, c.why
FROM diagnostics d LEFT JOIN codes c USING (code)
WHERE d.call_id = $call AND d.file_id = $file
ORDER BY d.position
