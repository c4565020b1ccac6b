-- title: Tables
-- question: Which tables does the store hold, and about how many rows has each?
-- unit: one row a table, by name
-- column about: rows, with some that were taken out since, until DuckDB has swept them up
SELECT table_name AS name, estimated_size AS about, column_count AS columns
FROM duckdb_tables()
WHERE NOT internal AND NOT temporary
ORDER BY name
