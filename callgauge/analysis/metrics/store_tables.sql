-- title: Tables
-- question: Which tables does the store have, and about how many rows does each table have?
-- unit: one row per table, by name
-- column about: approximate number of rows; it includes some deleted rows until DuckDB reclaims their space
-- A table in several files has the rows of all files. Monthly sums repeat those of their days.
SELECT table_name AS name, sum(estimated_size)::BIGINT AS about, max(column_count) AS columns
FROM duckdb_tables()
WHERE NOT internal AND NOT temporary AND NOT starts_with(table_name, 'monthly_')
GROUP BY table_name
ORDER BY name
