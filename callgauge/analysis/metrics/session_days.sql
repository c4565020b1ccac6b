-- title: Sessions per day
-- question: On which days did matching sessions begin, how many can each day have at most, and over which days do they extend?
-- unit: one row per day, newest first; sessions without a time are in the last row
-- column most: number of sessions that began on the day, with only the filters by day and source applied
-- column exact: true if most is the exact number of matches; false if the other filters may leave fewer
-- column reads: number of sessions or turns to read for finding and sorting the matches; a call counts as a third
-- column first_day: first day with data in any file of these sessions; NULL if a file has no time
-- column last_day: last day with data in any file of these sessions; NULL if a file has no time
-- note: With these numbers, the lists of sessions read only the days that they need.
-- $first_day, $last_day: only sessions that can have records on these days.
WITH spread AS (
  SELECT session_id, min(started_at) AS began, max(ended_at) AS ended, count(*) = count(started_at) AND count(*) = count(ended_at) AS timed
  FROM sessions WHERE session_id IN (SELECT session_id FROM sessions WHERE duplicate) GROUP BY session_id
)
SELECT day, count(*)::BIGINT AS most,
       $models IS NULL AND $providers IS NULL AND $prompts IS NULL AND $tools IS NULL AND $mcp_servers IS NULL AND $search IS NULL
         AND $chain IS NULL AND $attempt IS NULL AND $turns IS NULL AND $run IS NULL AS exact,
       greatest(
         count(*),
         CASE WHEN $tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $chain IS NOT NULL OR $attempt IS NOT NULL THEN sum(calls) / 3
              WHEN $models IS NOT NULL OR $providers IS NOT NULL OR $prompts IS NOT NULL OR $turns IS NOT NULL OR $search IS NOT NULL OR $order = 'retries' THEN sum(turns)
         END)::BIGINT AS reads,
       if(bool_and(coalesce(timed, started_at IS NOT NULL)), min(least(started_at, began))::DATE, NULL) AS first_day,
       if(bool_and(coalesce(timed, ended_at IS NOT NULL)), max(greatest(ended_at, ended))::DATE, NULL) AS last_day
FROM (FROM sessions WHERE NOT coalesce(duplicate, false)) s LEFT JOIN spread USING (session_id)
WHERE ($from_day IS NULL OR greatest(day, ended_at::DATE) >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
  AND (NOT coalesce(timed, ended_at IS NOT NULL) OR coalesce(greatest(ended_at, ended)::DATE >= $first_day, true))
  AND (NOT coalesce(timed, started_at IS NOT NULL) OR coalesce(least(started_at, began)::DATE <= $last_day, true))
  AND {filters: sources, trials}
GROUP BY day
ORDER BY day DESC NULLS LAST
