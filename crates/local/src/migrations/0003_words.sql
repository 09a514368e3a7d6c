-- What a record is counted as in its list: the index alone answers how many there are of each.
ALTER TABLE records ADD COLUMN list_word TEXT;

CREATE INDEX records_word ON records (list_name, list_word) WHERE list_name IS NOT NULL;
