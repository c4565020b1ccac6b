-- title: Error signatures
-- question: Which errors occur, grouped by the constant part of their text, and since when?
-- unit: failed calls; each call counts for the signature of its first failure
-- column text: error text of the log or the parser, with placeholders for paths, numbers, ids and quoted values; the signature's id if `callgauge retain` deleted the text
-- column sessions: sessions; a session counts again for each day, model, prompt and tool
-- column first_day: first day of the error in the whole store; filters do not apply
-- column new: true if the error was first seen on the newest selected day with calls, and earlier days exist
-- column days: the newest days with calls, at most 14
-- column by_day: number of calls on each of these days
-- column example: id of the newest such call
-- column found: number of all signatures; this answer is one page of them
-- note: Failed calls get the same signature if their error texts are equal after paths, numbers, ids and quoted values are replaced by placeholders. No model is used. A signature has the same id after every load.
-- note: A signature is new if it was never seen before the newest selected day with calls. New signatures come first, then the most frequent.
-- note: $first lists signatures to show before the new ones: errors that were fixed and are back. $among and $without filter by triage status.
WITH chosen AS NOT MATERIALIZED (
  FROM daily_errors
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND ($signature IS NULL OR signature_id = $signature)
    AND ($among IS NULL OR list_contains($among::VARCHAR[], signature_id))
    AND ($without IS NULL OR NOT list_contains($without::VARCHAR[], signature_id))
),
days AS (
  SELECT day FROM (
    SELECT DISTINCT day FROM daily_calls
    WHERE day IS NOT NULL AND {filters: days, sources, trials}
    ORDER BY day DESC LIMIT 14
  )
),
ever AS (SELECT signature_id, min(day) AS first_day FROM daily_errors WHERE {filters: trials} GROUP BY signature_id),
extent AS (SELECT min(day) AS oldest, (SELECT max(day) FROM days) AS newest FROM daily_calls WHERE {filters: trials}),
slices AS (  -- few, where the chosen rows may be millions
  SELECT signature_id, coalesce(tool, 'unknown') AS tool, coalesce(model, 'unknown') AS model, sum(calls) AS calls,
         sum(sessions) AS sessions, max(day) AS last_day, max({'ts': example_ts, 'example': example}) AS newest
  FROM chosen GROUP BY ALL
),
counted AS (
  SELECT signature_id, sum(calls)::BIGINT AS calls, sum(sessions)::BIGINT AS sessions,
         list_sort(list_distinct(list(tool))) AS tools, list_sort(list_distinct(list(model))) AS models,
         max(last_day) AS last_day, max(newest).example AS example
  FROM slices GROUP BY signature_id
),
page AS (
  SELECT counted.*, first_day, coalesce(first_day = newest AND oldest < newest, false) AS new,
         coalesce(list_contains($first::VARCHAR[], signature_id), false) AS leads, (SELECT count(*) FROM counted)::BIGINT AS found
  FROM counted LEFT JOIN ever USING (signature_id) CROSS JOIN extent
  ORDER BY leads DESC, new DESC, calls DESC, signature_id
  LIMIT $limit OFFSET $offset
),
trend AS (
  SELECT signature_id, list(calls ORDER BY day) AS by_day
  FROM (
    SELECT p.signature_id, d.day, coalesce(sum(c.calls), 0)::BIGINT AS calls
    FROM page p CROSS JOIN days d LEFT JOIN chosen c ON c.signature_id = p.signature_id AND c.day = d.day
    GROUP BY ALL
  )
  GROUP BY signature_id
)
SELECT signature_id, fault_layer, coalesce(text, 'text removed: ' || signature_id) AS text, calls, sessions, tools, models, first_day, last_day, new, by_day,
       (SELECT list(day::VARCHAR ORDER BY day) FROM days) AS days, example, found
FROM page LEFT JOIN trend USING (signature_id) LEFT JOIN signatures USING (signature_id)
ORDER BY leads DESC, new DESC, calls DESC, signature_id
