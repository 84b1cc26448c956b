-- What a token is limited to (JSON lists of texts), how often it may be used, and its text before the one
-- that it has now.
ALTER TABLE tokens ADD COLUMN servers TEXT;
ALTER TABLE tokens ADD COLUMN tools TEXT;
ALTER TABLE tokens ADD COLUMN rate TEXT;
ALTER TABLE tokens ADD COLUMN rotated INTEGER;
ALTER TABLE tokens ADD COLUMN old_hash BLOB;
ALTER TABLE tokens ADD COLUMN old_prefix TEXT;
ALTER TABLE tokens ADD COLUMN old_until INTEGER;
