-- Past calls, many in one row: a row for each call takes ten times as long to write. `calls` is a JSON array of the
-- calls by their ids, each an array of what were the columns. The ids of no two rows lie among each other.
CREATE TABLE call_batches (
    last      TEXT NOT NULL UNIQUE,
    first     TEXT NOT NULL,
    oldest_ms INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    calls     TEXT NOT NULL
) STRICT;

INSERT INTO call_batches
SELECT max(id), min(id), min(at_ms), sum(bytes), json_group_array(
    json_array(id, at_ms, duration_us, request_id, correlation_id, method, server, tool, status, code,
               error, principal, client, project, arguments))
FROM (SELECT *, (row_number() OVER (ORDER BY id) - 1) / 256 AS batch FROM calls ORDER BY id)
GROUP BY batch ORDER BY batch;

DROP TABLE calls;
CREATE TRIGGER call_batches_grow AFTER INSERT ON call_batches BEGIN
    UPDATE calls_size SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER call_batches_shrink AFTER DELETE ON call_batches BEGIN
    UPDATE calls_size SET bytes = bytes - old.bytes;
END;
