-- title: Tables
-- question: Which tables are in the store, and about how many rows does each have?
-- unit: one row per table, by name
-- column about: rows, including some deleted ones until DuckDB reclaims them
-- A table in several files has the rows of all files. Monthly sums repeat those of their days.
SELECT table_name AS name, sum(estimated_size)::BIGINT AS about, max(column_count) AS columns
FROM duckdb_tables()
WHERE NOT internal AND NOT temporary AND NOT starts_with(table_name, 'monthly_')
GROUP BY table_name
ORDER BY name
