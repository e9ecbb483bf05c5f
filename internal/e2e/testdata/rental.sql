-- Tools for hire as their owner has them: keys of several columns throughout, a rule and books in triggers, an outbox, and a
-- program of the owner's that works as rental_app. Not a line of it is for Alfred.
DO $$ BEGIN CREATE ROLE rental_owner NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE rental_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
CREATE SCHEMA rental AUTHORIZATION rental_owner;
SET ROLE rental_owner;

CREATE TABLE rental.customers (id text PRIMARY KEY, name text NOT NULL, email text NOT NULL);
CREATE TABLE rental.tools (
    branch text NOT NULL, number integer NOT NULL, name text NOT NULL, family text NOT NULL, available boolean NOT NULL DEFAULT true,
    PRIMARY KEY (branch, number)
);
CREATE TABLE rental.hires (
    branch text NOT NULL, number integer NOT NULL, customer_id text NOT NULL REFERENCES rental.customers, title text NOT NULL,
    status text NOT NULL CHECK (status IN ('booked', 'out', 'cancelled', 'exchange asked', 'returned')), street text NOT NULL,
    PRIMARY KEY (branch, number)
);
CREATE TABLE rental.hire_lines (
    branch text NOT NULL, hire integer NOT NULL, line integer NOT NULL, tool_branch text NOT NULL, tool_number integer NOT NULL, wish text,
    PRIMARY KEY (branch, hire, line), FOREIGN KEY (branch, hire) REFERENCES rental.hires ON DELETE CASCADE,
    FOREIGN KEY (tool_branch, tool_number) REFERENCES rental.tools
);
CREATE TABLE rental.refunds (
    branch text NOT NULL, hire integer NOT NULL, number integer NOT NULL, amount numeric(8, 2) NOT NULL,
    PRIMARY KEY (branch, hire, number), FOREIGN KEY (branch, hire) REFERENCES rental.hires ON DELETE CASCADE
);
CREATE TABLE rental.books (id bigserial PRIMARY KEY, hire text NOT NULL, was text NOT NULL, by_role text NOT NULL DEFAULT current_user);
CREATE TABLE rental.outbox (key text PRIMARY KEY, recipient text NOT NULL, body text NOT NULL, sent integer NOT NULL DEFAULT 0);

CREATE FUNCTION rental.keep_books() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.street <> OLD.street AND OLD.status <> 'booked' THEN
        RAISE EXCEPTION 'What is out already is not sent elsewhere.';
    END IF;
    INSERT INTO rental.books (hire, was) VALUES (OLD.branch || OLD.number, OLD.status);
    RETURN NEW;
END $$;
CREATE TRIGGER keep_books BEFORE UPDATE ON rental.hires FOR EACH ROW EXECUTE FUNCTION rental.keep_books();

CREATE FUNCTION rental.cancel_hire(branch text, number integer, reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE rental.hires AS h SET status = 'cancelled' WHERE h.branch = cancel_hire.branch AND h.number = cancel_hire.number AND status = 'booked';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Only what is booked can be cancelled.';
    END IF;
    INSERT INTO rental.refunds VALUES (cancel_hire.branch, cancel_hire.number, 1, 12.50);
    INSERT INTO rental.outbox (key, recipient, body)
        SELECT 'cancelled ' || h.branch || h.number, c.email, 'Cancelled: ' || reason FROM rental.hires AS h JOIN rental.customers AS c ON c.id = h.customer_id
        WHERE h.branch = cancel_hire.branch AND h.number = cancel_hire.number ON CONFLICT (key) DO NOTHING;
END $$;
CREATE FUNCTION rental.cancel_preview(branch text, number integer, reason text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format('%s would be cancelled and 12.50 refunded.', title) FROM rental.hires AS h WHERE h.branch = cancel_preview.branch AND h.number = cancel_preview.number $$;
CREATE FUNCTION rental.exchange_tool(branch text, number integer, line integer, wanted integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE rental.hire_lines AS l SET wish = 'exchange for ' || new.name FROM rental.tools AS old, rental.tools AS new
        WHERE l.branch = exchange_tool.branch AND l.hire = exchange_tool.number AND l.line = exchange_tool.line AND (old.branch, old.number) = (l.tool_branch, l.tool_number)
          AND (new.branch, new.number) = (l.branch, wanted) AND new.available AND new.family = old.family;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'A tool can be exchanged for an available one of its family.';
    END IF;
    UPDATE rental.hires AS h SET status = 'exchange asked' WHERE h.branch = exchange_tool.branch AND h.number = exchange_tool.number;
END $$;
CREATE FUNCTION rental.return_tools(branch text, number integer, lines integer[] DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    UPDATE rental.hire_lines AS l SET wish = 'returned' WHERE l.branch = return_tools.branch AND l.hire = return_tools.number AND (lines IS NULL OR l.line = ANY (lines));
    UPDATE rental.hires AS h SET status = 'returned' WHERE h.branch = return_tools.branch AND h.number = return_tools.number RETURNING 'Returned: ' || h.title $$;
GRANT USAGE ON SCHEMA rental TO rental_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rental TO rental_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA rental TO rental_app;

INSERT INTO rental.customers VALUES ('C1', 'Ada', 'ada@example.org'), ('C2', 'Eve', 'eve@example.org');
INSERT INTO rental.tools VALUES ('N', 1, 'Drill', 'drills'), ('N', 2, 'Large drill', 'drills'), ('N', 3, 'Saw', 'saws');
INSERT INTO rental.hires VALUES ('N', 7, 'C1', 'Shelf', 'booked', '1 Old Street'), ('N', 8, 'C1', 'Floor', 'out', '1 Old Street'),
    ('N', 9, 'C1', 'Roof', 'out', '1 Old Street'), ('S', 7, 'C2', 'Fence', 'booked', '5 Side Street');
INSERT INTO rental.hire_lines VALUES ('N', 7, 1, 'N', 1), ('N', 8, 1, 'N', 1), ('N', 9, 1, 'N', 3), ('S', 7, 1, 'N', 3);
RESET ROLE;
