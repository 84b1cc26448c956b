-- Times are seconds since 1970-01-01 UTC.

CREATE TABLE tokens (
    id        TEXT PRIMARY KEY,
    hash      BLOB NOT NULL UNIQUE,   -- SHA-256 of the token's text, which is nowhere
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    prefix    TEXT NOT NULL,
    client    TEXT,
    project   TEXT,
    toolset   TEXT,
    scopes    TEXT NOT NULL,
    created   INTEGER NOT NULL,
    expires   INTEGER,
    last_used INTEGER,
    revoked   INTEGER
) STRICT;

-- The exposed name that each thing of each server keeps.
CREATE TABLE assignments (
    kind    TEXT NOT NULL,
    server  TEXT NOT NULL,
    origin  TEXT NOT NULL,
    exposed TEXT NOT NULL,
    PRIMARY KEY (kind, server, origin)
) STRICT, WITHOUT ROWID;

-- The last good listing of each server.
CREATE TABLE listings (
    server TEXT PRIMARY KEY,
    format INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    body   BLOB NOT NULL
) STRICT;

-- What was found out about the era of each server.
CREATE TABLE verdicts (
    key  TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    at   INTEGER NOT NULL
) STRICT;

-- Keys that are drawn once.
CREATE TABLE keys (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
