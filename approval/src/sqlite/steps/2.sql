-- From schema 1 to 2: for how long the very same call is refused; and to whom a row was shown.
ALTER TABLE approval ADD COLUMN repeat TEXT;
ALTER TABLE approval ADD COLUMN shown TEXT NOT NULL DEFAULT '[]';
