-- Named choices of tools. `tools` is a JSON list of texts, `pins` a JSON object: origin name to hash.
CREATE TABLE toolsets (
    owner       TEXT NOT NULL,
    name        TEXT NOT NULL,
    description TEXT,
    tools       TEXT NOT NULL,
    pins        TEXT NOT NULL,
    created     INTEGER NOT NULL,
    changed     INTEGER NOT NULL,
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

-- The definitions of tools that toolsets were made with, each once.
CREATE TABLE definitions (
    hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- Which toolset pins which definitions.
CREATE TABLE pinned (
    owner TEXT NOT NULL,
    name  TEXT NOT NULL,
    hash  TEXT NOT NULL,
    PRIMARY KEY (owner, name, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX pinned_by_hash ON pinned (hash);

-- What each principal has equipped.
CREATE TABLE equips (
    principal TEXT PRIMARY KEY,
    owner     TEXT NOT NULL,
    toolset   TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

-- What operators have turned at run time; an empty `tool` is the server itself.
CREATE TABLE switches (
    server      TEXT NOT NULL,
    tool        TEXT NOT NULL,
    enabled     INTEGER,
    name        TEXT,
    description TEXT,
    PRIMARY KEY (server, tool)
) STRICT, WITHOUT ROWID;

-- Named sets of servers. `servers` and `tags` are JSON lists of texts.
CREATE TABLE projects (
    name        TEXT PRIMARY KEY,
    description TEXT,
    servers     TEXT NOT NULL,
    tags        TEXT NOT NULL,
    toolset     TEXT,
    created     INTEGER NOT NULL
) STRICT;

-- Past calls. Times are milliseconds since 1970-01-01 UTC, durations microseconds.
CREATE TABLE calls (
    id             TEXT PRIMARY KEY,
    at_ms          INTEGER NOT NULL,
    duration_us    INTEGER NOT NULL,
    request_id     TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    method         TEXT NOT NULL,
    server         TEXT,
    tool           TEXT,
    status         TEXT NOT NULL,
    code           INTEGER,
    error          TEXT,
    principal      TEXT NOT NULL,
    client         TEXT,
    project        TEXT,
    arguments      TEXT,
    bytes          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many bytes they are, so that nobody has to add them up.
CREATE TABLE calls_size (bytes INTEGER NOT NULL) STRICT;
INSERT INTO calls_size VALUES (0);
CREATE TRIGGER calls_grow AFTER INSERT ON calls BEGIN
    UPDATE calls_size SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER calls_shrink AFTER DELETE ON calls BEGIN
    UPDATE calls_size SET bytes = bytes - old.bytes;
END;
