-- From schema 1 to 2: for how long the very same call is refused.
ALTER TABLE approval ADD COLUMN repeat TEXT;
