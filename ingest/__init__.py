"""Log files in, the tables of a published DuckDB generation out; may ask `lenient`, never the dashboard."""
