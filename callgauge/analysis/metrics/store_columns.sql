-- title: Columns
-- question: Which columns does a table of the store have, and what are their types?
-- unit: one row per column, in order
SELECT column_name AS name, data_type AS type
FROM duckdb_columns()
WHERE NOT internal AND database_name = current_database() AND ($table::VARCHAR IS NULL OR table_name = $table)
ORDER BY table_name, column_index
