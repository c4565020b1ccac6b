-- title: Error signatures
-- question: Which errors occur, grouped by their constant text, and since when?
-- unit: failed calls, each with the signature of its first failure
-- column text: error text of the log or the parser; paths, numbers, ids and quoted values are placeholders. If `callgauge retain` deleted it, the id of the signature
-- column sessions: a session counts once for each day, model, prompt and tool
-- column first_day: first day in the whole store, regardless of filters
-- column new: first seen on the newest selected day with calls, if there are earlier days
-- column days: the newest days with calls, at most 14; by_day: calls of each
-- column example: the newest such call
-- column found: number of signatures; the rows are one page of them
-- note: Failed calls with the same error text get one signature: paths, numbers, ids and quoted values become placeholders. No model is used, and the id is the same after every load.
-- note: A signature is new if it was never seen before the newest selected day with calls. New signatures come first, then the most frequent.
-- note: $first puts signatures before the new ones: fixed errors that are back. $among and $without filter by triage status.
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
