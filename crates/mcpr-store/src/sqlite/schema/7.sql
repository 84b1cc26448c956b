-- How many calls a row has, so that whole rows can be dropped without being read. Since now a text that stands where it
-- stood in the call before is a `0` in `calls`.
ALTER TABLE call_batches ADD COLUMN count INTEGER NOT NULL DEFAULT 0;
-- A row that somebody has damaged has none.
UPDATE call_batches SET count = CASE WHEN json_valid(calls) THEN json_array_length(calls) ELSE 0 END;
