-- After when a record may be forgotten, in seconds since 1970. Most are kept.
ALTER TABLE records ADD COLUMN forget_s INTEGER;

CREATE INDEX records_forget ON records (forget_s) WHERE forget_s IS NOT NULL;
