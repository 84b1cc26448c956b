-- The hashes of the texts that a token had before the one in `old_hash`, one after the other.
ALTER TABLE tokens ADD COLUMN spent BLOB;
