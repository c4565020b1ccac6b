-- title: Silent sources
-- question: Which sources have stopped sending data, although they usually send data more often?
-- unit: UTC days
-- column last_day: newest day with calls or turns
-- column silent_days: days without data after last_day, up to the newest complete day of the store
-- column active_days: days with data among the 14 days that end with last_day
-- column chance: probability of such a long silence if each day has data as often as in those 14 days
-- note: A source is silent if it had data on at least 7 of 14 days and then a silence whose probability is under 5 %.
-- note: Working days and weekends are judged separately. A source that never sends on Sundays is not silent on a Monday.
-- note: The newest day counts only when it is over, because a load in the morning contains only the first hours of the day.
-- note: A source without data for more than 28 days counts as gone, not as silent.
WITH
days AS (
  SELECT source, day FROM daily_calls WHERE source IS NOT NULL AND day IS NOT NULL AND {filters: trials}
  UNION
  SELECT source, day FROM daily_turns WHERE source IS NOT NULL AND day IS NOT NULL AND {filters: trials}
),
newest AS (
  SELECT least(max(day), (SELECT max(finished_at)::DATE - 1 FROM ingest_runs)) AS full_day FROM days
),
ends AS (SELECT source, max(day) AS last_day FROM days GROUP BY source),
rhythms AS (
  SELECT source, last_day, count(*) AS active_days,
         -- Of 10 working days and 4 days of weekends; half a day more each way, so that no silence is impossible.
         (count(*) FILTER (isodow(day) <= 5) + 0.5) / 11 AS working_rate,
         (count(*) FILTER (isodow(day) > 5) + 0.5) / 5 AS weekend_rate
  FROM ends JOIN days USING (source)
  WHERE day > last_day - 14
  GROUP BY source, last_day
),
silences AS (
  SELECT source, last_day, active_days, full_day - last_day AS silent_days,
         unnest(range(last_day + 1, full_day + 1, INTERVAL 1 DAY)) AS empty_day, working_rate, weekend_rate
  FROM rhythms, newest
  WHERE active_days >= 7 AND full_day - last_day BETWEEN 1 AND 28
),
judged AS (
  SELECT source, last_day, silent_days, active_days,
         product(1 - CASE WHEN isodow(empty_day) <= 5 THEN working_rate ELSE weekend_rate END) AS chance
  FROM silences
  GROUP BY source, last_day, silent_days, active_days
)
SELECT source, coalesce(title, source) AS title, last_day, silent_days::BIGINT AS silent_days,
       active_days::BIGINT AS active_days, chance
FROM judged LEFT JOIN sources USING (source)
WHERE chance < 0.05
ORDER BY silent_days DESC, source
