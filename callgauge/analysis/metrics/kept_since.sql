-- title: What the store no longer keeps
-- question: Since when does the store keep calls, turns and sessions, and their texts?
-- unit: one row; a day is NULL where nothing was removed
-- days: kept apart
-- note: `callgauge retain` removes old texts, and later old facts. Daily sums stay, so rates, trends and counts of those days are what they were; lists of calls and sessions, and what is computed from them, begin later.
-- column facts_before: calls, turns and sessions that were last heard before this day are gone
-- column text_before: texts of sessions that were last heard before this day are gone
-- column summed_only: days among the chosen ones that have sums but are before facts_before
SELECT
  any_value(facts_before) AS facts_before, any_value(text_before) AS text_before,
  (
    SELECT count(DISTINCT day) FROM daily_calls
    WHERE day < (SELECT max(facts_before) FROM store_info) AND {filters: days, trials}
  )::BIGINT AS summed_only
FROM store_info
