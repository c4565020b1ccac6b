-- title: Previous and next call
-- question: Which calls come directly before and after this call in its session, and where is the next failed call?
-- unit: one row of call ids; NULL = no such call
-- column number: position of the call in the session, from 1
-- column of: number of calls in the session
WITH calls AS (
  SELECT call_id, row_number() OVER way AS number, (count(*) OVER ())::BIGINT AS of,
         lag(call_id) OVER way AS before, lead(call_id) OVER way AS after,
         last_value(CASE WHEN fault_layer IS NOT NULL THEN call_id END IGNORE NULLS) OVER (way ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS fault_before,
         first_value(CASE WHEN fault_layer IS NOT NULL THEN call_id END IGNORE NULLS) OVER (way ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS fault_after
  FROM tool_calls WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  WINDOW way AS (ORDER BY turn, turn_id, coalesce(step, 0), ordinal, call_id)
)
SELECT number::BIGINT AS number, of, before, after, fault_before, fault_after FROM calls WHERE call_id = $call LIMIT 1
