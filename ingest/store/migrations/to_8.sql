-- From version 7. Removals by `callgauge retain`, and the days before which it removed data.

ALTER TABLE store_info ADD COLUMN facts_before DATE;
ALTER TABLE store_info ADD COLUMN text_before DATE;
ALTER TABLE sessions ADD COLUMN text_removed BOOLEAN;
ALTER TABLE turns ADD COLUMN text_removed BOOLEAN;
ALTER TABLE turn_parts ADD COLUMN text_removed BOOLEAN;
ALTER TABLE tool_calls ADD COLUMN text_removed BOOLEAN;
ALTER TABLE tool_calls ADD COLUMN raw_bytes BIGINT;
ALTER TABLE tool_calls ADD COLUMN raw_chars BIGINT;
