-- k and n of each day: `{days: rate, slice}` in a metric's SQL stands for this table. It follows `by_day`, sums of a rollup
-- with the columns rate, slice and day. `sums` has one row for each rate and slice, with the lists days, day_k and day_n.
sums AS (
  SELECT $keys, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions,
         coalesce(list(day ORDER BY day) FILTER (day IS NOT NULL AND n > 0), []) AS days,
         coalesce(list(k ORDER BY day) FILTER (day IS NOT NULL AND n > 0), []) AS day_k,
         coalesce(list(n ORDER BY day) FILTER (day IS NOT NULL AND n > 0), []) AS day_n
  FROM by_day GROUP BY ALL
)
