-- Times are nanoseconds since 1970 in UTC, so that they are kept exactly and sort as numbers.

-- An ordinary table with an index on its key: bodies may have 64 KB, and a table WITHOUT ROWID would carry them
-- through the inner pages of its tree.
CREATE TABLE records (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    body TEXT NOT NULL,
    due_ns INTEGER,
    list_name TEXT,
    list_sort TEXT,
    -- After when the record may be forgotten, in seconds since 1970. Most are kept.
    forget_s INTEGER,
    -- What the record is counted as in its list: an index answers how many there are of each.
    list_word TEXT,
    PRIMARY KEY (pk, sk),
    CHECK ((list_name IS NULL) = (list_sort IS NULL))
) STRICT;

CREATE INDEX records_due ON records (due_ns, pk, sk) WHERE due_ns IS NOT NULL;
CREATE INDEX records_list ON records (list_name, list_sort, pk, sk) WHERE list_name IS NOT NULL;
CREATE INDEX records_forget ON records (forget_s) WHERE forget_s IS NOT NULL;
CREATE INDEX records_word ON records (list_name, list_word) WHERE list_name IS NOT NULL;

-- AUTOINCREMENT, so that a receipt of a removed message can never name a later one.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    sent_ns INTEGER NOT NULL,
    visible_ns INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX messages_visible ON messages (queue, visible_ns, id);

CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    sent_ns INTEGER NOT NULL,
    receives INTEGER NOT NULL,
    died_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX dead_letters_died ON dead_letters (queue, died_ns);
