-- k and n of each group of sessions: `{groups: rate, slice}` in a metric's SQL stands for these tables. They follow
-- `chosen`, rows of a rollup with the columns rate and slice, and `sums`, one row for each rate and slice. `grouped` is
-- `sums` with the lists group_ids, group_k and group_n. Rows are numbered first: beside the lists, texts would be copied
-- and compared fifty times.
numbered AS MATERIALIZED (
  SELECT row_number() OVER ()::UINTEGER AS number, * FROM sums
),
of_groups AS (
  SELECT number, id, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n
  FROM (
    SELECT number, unnest(group_ids) AS id, unnest(group_k) AS k, unnest(group_n) AS n
    FROM (SELECT number, c.group_ids, c.group_k, c.group_n FROM chosen c JOIN numbered USING ($keys))
  )
  GROUP BY number, id
),
lists AS (
  SELECT number, list_sort(list({'id': id, 'k': k, 'n': n})) AS groups FROM of_groups GROUP BY number
),
grouped AS (
  SELECT * EXCLUDE (number, groups), coalesce([g.id for g in groups], []) AS group_ids,
         coalesce([g.k for g in groups], []) AS group_k, coalesce([g.n for g in groups], []) AS group_n
  FROM numbered LEFT JOIN lists USING (number)
)
