-- The definitions of tools that were approved, as their servers wrote them. The row with an empty `tool`
-- says that the server has been seen: what it lists since is not taken for approved any more.
CREATE TABLE pins (
    server TEXT NOT NULL,
    tool   TEXT NOT NULL,
    body   TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;
