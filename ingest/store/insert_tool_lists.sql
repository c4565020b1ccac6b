-- Adds each new list of offered tools once, because many files contain the same list.
INSERT INTO tool_lists BY NAME
SELECT DISTINCT * FROM incoming i
WHERE NOT EXISTS (FROM tool_lists t WHERE t.tool_list = i.tool_list AND t.tool = i.tool);
