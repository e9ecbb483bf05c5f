-- An online shop as it might stand in a database for years: integer keys, accounts of its own, an order and its lines,
-- rules over several columns, a catalogue that all share.
CREATE SCHEMA shop;
GRANT USAGE ON SCHEMA shop TO alfred_tenant;

CREATE TABLE shop.accounts (
    id          bigint GENERATED ALWAYS AS IDENTITY (START WITH 66010001) PRIMARY KEY,
    alfred_user uuid NOT NULL UNIQUE,
    email       text NOT NULL
);
CREATE FUNCTION shop.account() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
$$ SELECT a.id FROM shop.accounts AS a WHERE a.alfred_user = nullif(current_setting('alfred.user_id', true), '')::uuid $$;

CREATE TABLE shop.categories (
    id        bigint GENERATED ALWAYS AS IDENTITY (START WITH 77010001) PRIMARY KEY,
    parent_id bigint REFERENCES shop.categories (id),
    name      text NOT NULL UNIQUE
);
CREATE TABLE shop.products (
    id          bigint GENERATED ALWAYS AS IDENTITY (START WITH 88010001) PRIMARY KEY,
    category_id bigint NOT NULL REFERENCES shop.categories (id),
    name        text NOT NULL,
    price       numeric(10, 2) NOT NULL CHECK (price >= 0),
    description text
);
COMMENT ON TABLE shop.products IS 'What the shop sells; the same for everybody.';
COMMENT ON COLUMN shop.products.price IS 'In euros, VAT included.';

CREATE TABLE shop.addresses (
    id         bigint GENERATED ALWAYS AS IDENTITY (START WITH 99010001) PRIMARY KEY,
    account_id bigint NOT NULL DEFAULT shop.account() REFERENCES shop.accounts (id) ON DELETE CASCADE,
    label      text NOT NULL,
    street     text NOT NULL,
    city       text NOT NULL,
    UNIQUE (account_id, id),
    UNIQUE (account_id, label)
);
CREATE TABLE shop.orders (
    id         bigint GENERATED ALWAYS AS IDENTITY (START WITH 55010001) PRIMARY KEY,
    account_id bigint NOT NULL DEFAULT shop.account() REFERENCES shop.accounts (id) ON DELETE CASCADE,
    address_id bigint,
    title      text NOT NULL,
    status     text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'shipped', 'cancelled')),
    placed_on  date NOT NULL DEFAULT current_date,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (account_id, id),
    UNIQUE (account_id, title, placed_on),
    FOREIGN KEY (account_id, address_id) REFERENCES shop.addresses (account_id, id)
);
CREATE TABLE shop.order_lines (
    id         bigint GENERATED ALWAYS AS IDENTITY (START WITH 44010001) PRIMARY KEY,
    account_id bigint NOT NULL DEFAULT shop.account() REFERENCES shop.accounts (id) ON DELETE CASCADE,
    order_id   bigint NOT NULL,
    product_id bigint NOT NULL REFERENCES shop.products (id),
    pieces     integer NOT NULL CHECK (pieces > 0),
    note       varchar(40),
    UNIQUE (account_id, order_id, product_id),
    FOREIGN KEY (account_id, order_id) REFERENCES shop.orders (account_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE shop.order_lines IS 'One product of an order; each product stands once in an order.';

CREATE TABLE shop.clicks (account_id bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), page text);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['addresses', 'orders', 'order_lines'] LOOP
        EXECUTE format('ALTER TABLE shop.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON shop.%I TO alfred_tenant USING (account_id = shop.account())', name);
    END LOOP;
END $$;
GRANT SELECT, DELETE, INSERT (label, street, city), UPDATE (label, street, city) ON shop.addresses TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (address_id, title, status, placed_on), UPDATE (address_id, title, status, placed_on) ON shop.orders TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (order_id, product_id, pieces, note), UPDATE (order_id, product_id, pieces, note) ON shop.order_lines TO alfred_tenant;
GRANT INSERT ON shop.addresses, shop.orders, shop.order_lines TO alfred_undo;
GRANT SELECT ON shop.categories, shop.products TO alfred_tenant;

INSERT INTO shop.categories (name) VALUES ('Coffee'), ('Tea');
INSERT INTO shop.products (category_id, name, price)
SELECT c.id, p.name, p.price FROM shop.categories AS c
JOIN (VALUES ('Coffee', 'Espresso beans', 18.50), ('Coffee', 'Filter papers', 3.20), ('Tea', 'Green tea', 7.00)) AS p (category, name, price)
  ON p.category = c.name;
