package testfactory

import "strings"

// Works is shaped like Microsoft's AdventureWorks: its tables are in several schemas, their names have capitals, and foreign keys lead
// from one schema to another. Two schemas have a table of the same name, each with a sequence of its own.
const Works = `
CREATE SCHEMA "Sales"; CREATE SCHEMA "Production"; CREATE SCHEMA "Person";
CREATE TABLE "Person"."Person" ("BusinessEntityID" integer PRIMARY KEY, "FirstName" text NOT NULL, "LastName" text NOT NULL);
CREATE TABLE "Person"."Address" ("AddressID" serial PRIMARY KEY, "PersonID" integer NOT NULL REFERENCES "Person"."Person", "City" text NOT NULL);
CREATE TYPE "Production".style AS ENUM ('road', 'mountain');
CREATE TABLE "Production"."Product" ("ProductID" serial PRIMARY KEY, "Name" text NOT NULL UNIQUE, "Style" "Production".style, "ListPrice" numeric(19, 4) NOT NULL);
CREATE TABLE "Sales"."Order" ("OrderID" serial PRIMARY KEY, "PersonID" integer NOT NULL REFERENCES "Person"."Person",
	"ShipToID" integer REFERENCES "Person"."Address", "Title" text NOT NULL);
CREATE TABLE "Sales"."OrderDetail" ("OrderID" integer NOT NULL REFERENCES "Sales"."Order" ON DELETE CASCADE, "LineNumber" serial,
	"ProductID" integer NOT NULL REFERENCES "Production"."Product", "OrderQty" integer NOT NULL CHECK ("OrderQty" > 0), PRIMARY KEY ("OrderID", "LineNumber"));
CREATE TABLE "Sales"."Note" (id integer PRIMARY KEY, "PersonID" integer NOT NULL REFERENCES "Person"."Person", body text NOT NULL, "OrderID" integer REFERENCES "Sales"."Order" ON DELETE SET NULL);
CREATE TABLE "Production"."Note" (id integer PRIMARY KEY, "PersonID" integer NOT NULL REFERENCES "Person"."Person", body text NOT NULL, "ProductID" integer NOT NULL REFERENCES "Production"."Product");
CREATE SEQUENCE "Sales"."Note_seq" START 100; CREATE SEQUENCE "Production"."Note_seq" START 200;
CREATE TABLE "Production"."Count" (what text, n integer);
CREATE FUNCTION "Production".counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "Count" VALUES (TG_TABLE_SCHEMA, 1); RETURN NULL; END $$;
CREATE FUNCTION "Production".praise(note integer, words text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN UPDATE "Note" SET body = body || words WHERE id = note; RETURN (SELECT body FROM "Note" WHERE id = note); END $$;
INSERT INTO "Person"."Person" VALUES (1, 'Ada', 'Vogel'), (2, 'Eve', 'Moss');
INSERT INTO "Person"."Address" ("PersonID", "City") VALUES (1, 'Ghent'), (2, 'Lund');
INSERT INTO "Production"."Product" ("Name", "Style", "ListPrice") VALUES ('Touring 1000', 'road', 2384.07), ('Mountain 200', 'mountain', 2319.99);
INSERT INTO "Sales"."Order" ("PersonID", "ShipToID", "Title") VALUES (1, 1, 'Spring'), (2, 2, 'Autumn');
INSERT INTO "Sales"."OrderDetail" ("OrderID", "ProductID", "OrderQty") VALUES (1, 1, 2), (2, 2, 1);
INSERT INTO "Sales"."Note" VALUES (1, 1, 'call', 1), (2, 2, 'mail', 2);
INSERT INTO "Production"."Note" VALUES (1, 1, 'too heavy', 1), (2, 2, 'light', 2);
CREATE CONSTRAINT TRIGGER counts AFTER INSERT ON "Production"."Note" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "Production".counts();`

// WorksReview is what its owner allows.
var WorksReview = strings.NewReplacer(
	"\n  - type: order\n", "\n  - type: order\n    writes: [create, update, delete]\n    columns: [Title, ShipToID]\n",
	"\n  - type: order_detail\n", "\n  - type: order_detail\n    writes: [create, update, delete]\n    columns: [OrderID, ProductID, OrderQty]\n",
	"\n  - type: note\n", "\n  - type: note\n    writes: [create, update, delete]\n    columns: [body, OrderID]\n",
	"\n  - type: production_note\n", "\n  - type: production_note\n    writes: [create, update, delete]\n    columns: [body, ProductID]\n",
	"\nsubdomains:", "\noperations:\n  - {name: praise, function: praise, on: production_note, confirm: never, trusted: true}\n\nsubdomains:",
)
