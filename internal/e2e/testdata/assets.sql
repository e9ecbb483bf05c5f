-- An asset register whose rows have texts for keys, made by the database, and belong to organisations named by a text.
-- Enumerated types, arrays, money without rounding, a row that points at its own kind.
CREATE SCHEMA assets;
GRANT USAGE ON SCHEMA assets TO alfred_tenant;

CREATE TYPE assets.condition AS ENUM ('new', 'good', 'worn', 'broken');
CREATE SEQUENCE assets.ids START WITH 424201;
CREATE FUNCTION assets.key(prefix text) RETURNS text LANGUAGE sql VOLATILE SET search_path = pg_catalog AS
$$ SELECT prefix || '-KQ' || nextval('assets.ids') || 'ZX' $$;

CREATE TABLE assets.memberships (alfred_user uuid PRIMARY KEY, org text NOT NULL);
CREATE FUNCTION assets.org() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
$$ SELECT m.org FROM assets.memberships AS m WHERE m.alfred_user = nullif(current_setting('alfred.user_id', true), '')::uuid $$;

CREATE TABLE assets.vendors (key text PRIMARY KEY DEFAULT assets.key('VEN'), name text NOT NULL UNIQUE, website text);
CREATE TABLE assets.rooms (
    key   text PRIMARY KEY DEFAULT assets.key('ROOM'),
    org   text NOT NULL DEFAULT assets.org(),
    name  text NOT NULL,
    floor smallint,
    UNIQUE (org, key),
    UNIQUE (org, name)
);
CREATE TABLE assets.assets (
    key         text PRIMARY KEY DEFAULT assets.key('AST'),
    org         text NOT NULL DEFAULT assets.org(),
    tag         varchar(20) NOT NULL,
    name        text NOT NULL,
    room_key    text,
    vendor_key  text REFERENCES assets.vendors (key),
    part_of_key text,
    condition   assets.condition NOT NULL DEFAULT 'new',
    value       numeric(10, 2) CHECK (value >= 0),
    keywords    text[] NOT NULL DEFAULT '{}',
    bought_on   date,
    UNIQUE (org, key),
    UNIQUE (org, tag),
    FOREIGN KEY (org, room_key) REFERENCES assets.rooms (org, key),
    FOREIGN KEY (org, part_of_key) REFERENCES assets.assets (org, key)
);
COMMENT ON COLUMN assets.assets.tag IS 'What is printed on the sticker, such as LAP-07.';
CREATE TABLE assets.services (
    key       text PRIMARY KEY DEFAULT assets.key('SRV'),
    org       text NOT NULL DEFAULT assets.org(),
    asset_key text NOT NULL,
    done_on   date NOT NULL,
    work      text NOT NULL,
    cost      numeric(10, 2),
    UNIQUE (org, key),
    FOREIGN KEY (org, asset_key) REFERENCES assets.assets (org, key) ON DELETE CASCADE
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['rooms', 'assets', 'services'] LOOP
        EXECUTE format('ALTER TABLE assets.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON assets.%I TO alfred_tenant USING (org = assets.org())', name);
    END LOOP;
END $$;
GRANT SELECT, DELETE, INSERT (name, floor), UPDATE (name, floor) ON assets.rooms TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (tag, name, room_key, vendor_key, part_of_key, condition, value, keywords, bought_on), UPDATE (tag, name, room_key, vendor_key, part_of_key, condition, value, keywords, bought_on) ON assets.assets TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (asset_key, done_on, work, cost), UPDATE (asset_key, done_on, work, cost) ON assets.services TO alfred_tenant;
GRANT INSERT ON assets.rooms, assets.assets, assets.services TO alfred_undo;
GRANT SELECT ON assets.vendors TO alfred_tenant;
GRANT USAGE ON SEQUENCE assets.ids TO alfred_tenant;
INSERT INTO assets.vendors (name) VALUES ('Initech'), ('Umbrella Tools');
