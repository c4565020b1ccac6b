-- k and n of each group of sessions: `{groups: rate, slice}` in a metric's SQL stands for these tables. They follow
-- `chosen`, rows of a rollup with the columns rate and slice, and `sums`, one row for each rate and slice. `grouped` is
-- `sums` with the lists group_ids, group_k and group_n. Rows are numbered first: beside the lists, texts would be copied
-- and compared fifty times. Lists of one cell after another take half the time of lists of all cells at once.
numbered AS MATERIALIZED (
  SELECT row_number() OVER ()::UINTEGER AS number, * FROM sums
),
of_groups AS (
  SELECT number, id, sum(k)::UINTEGER AS k, sum(n)::UINTEGER AS n
  FROM (
    SELECT number, unnest(group_ids) AS id, unnest(group_k) AS k, unnest(group_n) AS n
    FROM (SELECT number, c.group_ids, c.group_k, c.group_n FROM chosen c JOIN numbered USING ($keys))
  )
  GROUP BY number, id
),
lists AS (
  SELECT number, list(id) AS group_ids, list(k) AS group_k, list(n) AS group_n
  FROM (FROM of_groups ORDER BY number, id)
  GROUP BY number
),
grouped AS (
  SELECT * EXCLUDE (number, group_ids, group_k, group_n), coalesce(group_ids, []) AS group_ids,
         coalesce(group_k, []) AS group_k, coalesce(group_n, []) AS group_n
  FROM numbered LEFT JOIN lists USING (number)
)
