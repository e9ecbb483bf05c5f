-- Channels hold messages of whoever writes there: deleting one's own channel deletes other people's rows.
CREATE SCHEMA forum;
CREATE TABLE forum.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE forum.channels (id serial PRIMARY KEY, created_by integer NOT NULL REFERENCES forum.users, name text NOT NULL);
CREATE TABLE forum.messages (
    id         serial  PRIMARY KEY,
    user_id    integer NOT NULL REFERENCES forum.users,
    channel_id integer NOT NULL REFERENCES forum.channels ON DELETE CASCADE,
    title      text    NOT NULL
);
INSERT INTO forum.users (name) VALUES ('Ada'), ('Eve');
INSERT INTO forum.channels (created_by, name) VALUES (1, 'general'), (1, 'diary'), (1, 'games');
INSERT INTO forum.messages (user_id, channel_id, title) VALUES (1, 1, 'hello'), (2, 1, 'hi'), (1, 2, 'today'), (2, 3, 'chess?');
