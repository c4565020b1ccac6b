-- title: Tables
-- question: Which tables does the store hold, and about how many rows has each?
-- unit: one row a table, by name
-- column about: rows, with some that were taken out since, until DuckDB has swept them up
-- Of a table in several files, the rows of all. The sums of whole months are those of their days once more.
SELECT table_name AS name, sum(estimated_size)::BIGINT AS about, max(column_count) AS columns
FROM duckdb_tables()
WHERE NOT internal AND NOT temporary AND NOT starts_with(table_name, 'monthly_')
GROUP BY table_name
ORDER BY name
