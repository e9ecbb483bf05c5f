-- A shop as its owner has it: eight plain tables, rules of its own, a program of its own that works as retail_app, and
-- not a line for Alfred. Data: two of the 500 users, with their orders and what these hold, of the retail data set of
-- tau-bench (https://github.com/sierra-research/tau-bench, commit 59a200c, tau_bench/envs/retail/data), as they are there.
--
-- MIT License. Copyright (c) 2024 Sierra. Permission is hereby granted, free of charge, to any person obtaining a copy
-- of this software and associated documentation files (the "Software"), to deal in the Software without restriction,
-- including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
-- copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
-- conditions: The above copyright notice and this permission notice shall be included in all copies or substantial
-- portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING
-- BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT
-- SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
-- CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
-- THE SOFTWARE.
DO $$ BEGIN CREATE ROLE retail_owner NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE retail_app NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
CREATE SCHEMA retail AUTHORIZATION retail_owner;
SET ROLE retail_owner;

CREATE TYPE retail.source AS ENUM ('credit_card', 'gift_card', 'paypal');
CREATE TABLE retail.products (product_id text PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE retail.items (
    item_id text PRIMARY KEY, product_id text NOT NULL REFERENCES retail.products,
    options jsonb NOT NULL, available boolean NOT NULL, price numeric(10, 2) NOT NULL
);
COMMENT ON TABLE retail.items IS 'What can be bought: a product in one of its options.';
CREATE TABLE retail.users (
    user_id text PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL, email text NOT NULL,
    address1 text NOT NULL, address2 text NOT NULL, city text NOT NULL, state text NOT NULL, country text NOT NULL, zip text NOT NULL
);
CREATE TABLE retail.payment_methods (
    payment_method_id text PRIMARY KEY, user_id text NOT NULL REFERENCES retail.users,
    source retail.source NOT NULL, brand text, last_four text, balance numeric(10, 2)
);
COMMENT ON COLUMN retail.payment_methods.balance IS 'What a gift card still holds.';
CREATE TABLE retail.orders (
    order_id text PRIMARY KEY, user_id text NOT NULL REFERENCES retail.users,
    status text NOT NULL CHECK (status IN ('pending', 'pending (item modified)', 'processed', 'delivered', 'cancelled',
        'return requested', 'exchange requested')),
    address1 text NOT NULL, address2 text NOT NULL, city text NOT NULL, state text NOT NULL, country text NOT NULL, zip text NOT NULL,
    cancel_reason text
);
CREATE TABLE retail.order_items (
    order_id text NOT NULL REFERENCES retail.orders ON DELETE CASCADE, line integer NOT NULL,
    item_id text NOT NULL REFERENCES retail.items, price numeric(10, 2) NOT NULL, options jsonb NOT NULL,
    wish text, wanted_item_id text REFERENCES retail.items, PRIMARY KEY (order_id, line)
);
COMMENT ON COLUMN retail.order_items.wish IS 'return or exchange, once it is asked for.';
CREATE TABLE retail.payments (
    order_id text NOT NULL REFERENCES retail.orders ON DELETE CASCADE, number integer NOT NULL,
    transaction_type text NOT NULL CHECK (transaction_type IN ('payment', 'refund')), amount numeric(10, 2) NOT NULL,
    payment_method_id text NOT NULL REFERENCES retail.payment_methods, PRIMARY KEY (order_id, number)
);
CREATE TABLE retail.fulfillments (
    order_id text NOT NULL REFERENCES retail.orders ON DELETE CASCADE, tracking_id text NOT NULL,
    item_ids jsonb NOT NULL, PRIMARY KEY (order_id, tracking_id)
);

-- The owner's rules and books: nobody changes an order that is on its way, and every change of one is noted.
CREATE TABLE retail.audit (id bigserial PRIMARY KEY, order_id text NOT NULL, was text, is_now text, by_role text NOT NULL DEFAULT current_user);
CREATE FUNCTION retail.order_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status NOT LIKE 'pending%' AND (NEW.address1, NEW.city, NEW.zip) IS DISTINCT FROM (OLD.address1, OLD.city, OLD.zip) THEN
        RAISE EXCEPTION 'The address of an order that is % cannot be changed', OLD.status USING HINT = 'Only a pending order''s can.';
    END IF;
    INSERT INTO retail.audit (order_id, was, is_now) VALUES (OLD.order_id, OLD.status, NEW.status);
    RETURN NEW;
END $$;
CREATE TRIGGER rules BEFORE UPDATE ON retail.orders FOR EACH ROW EXECUTE FUNCTION retail.order_rules();
CREATE TABLE retail.outbox (id bigserial PRIMARY KEY, key text NOT NULL UNIQUE, recipient text NOT NULL, body text NOT NULL, sent_at timestamptz);

-- The owner's functions.
CREATE FUNCTION retail.cancel_order(this text, reason text) RETURNS SETOF retail.orders LANGUAGE plpgsql AS $$
BEGIN
    IF reason NOT IN ('no longer needed', 'ordered by mistake') THEN
        RAISE EXCEPTION 'A reason is either "no longer needed" or "ordered by mistake".';
    END IF;
    UPDATE retail.orders SET status = 'cancelled', cancel_reason = reason WHERE order_id = this AND status = 'pending';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Only a pending order can be cancelled.';
    END IF;
    INSERT INTO retail.payments SELECT p.order_id, p.number + 100, 'refund', p.amount, p.payment_method_id
        FROM retail.payments AS p WHERE p.order_id = this AND p.transaction_type = 'payment';
    UPDATE retail.payment_methods AS m SET balance = m.balance + p.amount FROM retail.payments AS p
        WHERE p.order_id = this AND p.transaction_type = 'refund' AND m.payment_method_id = p.payment_method_id AND m.source = 'gift_card';
    INSERT INTO retail.outbox (key, recipient, body) SELECT 'cancelled ' || o.order_id, u.email, 'Your order ' || o.order_id || ' is cancelled.'
        FROM retail.orders AS o JOIN retail.users AS u USING (user_id) WHERE o.order_id = this;
    RETURN QUERY SELECT * FROM retail.orders WHERE order_id = this;
END $$;
COMMENT ON FUNCTION retail.cancel_order IS 'Cancels a pending order and refunds it. reason: no longer needed, or ordered by mistake.';
CREATE FUNCTION retail.cancel_preview(this text, reason text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT format('Order %s would be cancelled, %s refunded to %s.', p.order_id, p.amount, m.source)
    FROM retail.payments AS p JOIN retail.payment_methods AS m USING (payment_method_id)
    WHERE p.order_id = this AND p.transaction_type = 'payment' ORDER BY p.number $$;
CREATE FUNCTION retail.return_items(this text, lines integer[], refund_to text) RETURNS SETOF retail.orders LANGUAGE plpgsql AS $$
BEGIN
    UPDATE retail.orders SET status = 'return requested' WHERE order_id = this AND status = 'delivered';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Only a delivered order can be returned.';
    END IF;
    UPDATE retail.order_items SET wish = 'return' WHERE order_id = this AND line = ANY (lines);
    RETURN QUERY SELECT * FROM retail.orders WHERE order_id = this;
END $$;
CREATE FUNCTION retail.exchange_item(this text, line integer, wanted text) RETURNS SETOF retail.orders LANGUAGE plpgsql AS $$
BEGIN
    UPDATE retail.orders SET status = 'exchange requested' WHERE order_id = this AND status IN ('delivered', 'exchange requested');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'Only a delivered order can be exchanged.';
    END IF;
    UPDATE retail.order_items AS i SET wish = 'exchange', wanted_item_id = wanted FROM retail.items AS old, retail.items AS new
        WHERE i.order_id = this AND i.line = exchange_item.line AND old.item_id = i.item_id AND new.item_id = wanted
          AND new.available AND new.product_id = old.product_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'It can be exchanged for an available item of the same product only.';
    END IF;
    RETURN QUERY SELECT * FROM retail.orders WHERE order_id = this;
END $$;
GRANT USAGE ON SCHEMA retail TO retail_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA retail TO retail_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA retail TO retail_app;

INSERT INTO retail.products VALUES ('9523456873', 'T-Shirt');
INSERT INTO retail.items VALUES ('9612497925', '9523456873', '{"color": "blue", "size": "M", "material": "cotton", "style": "crew neck"}', true, 50.88);
INSERT INTO retail.items VALUES ('8124970213', '9523456873', '{"color": "purple", "size": "XL", "material": "cotton", "style": "crew neck"}', true, 49.67);
INSERT INTO retail.items VALUES ('9354168549', '9523456873', '{"color": "red", "size": "XXL", "material": "cotton", "style": "crew neck"}', true, 46.85);
INSERT INTO retail.items VALUES ('5253880258', '9523456873', '{"color": "black", "size": "XXL", "material": "polyester", "style": "v-neck"}', true, 49.52);
INSERT INTO retail.items VALUES ('1176194968', '9523456873', '{"color": "black", "size": "S", "material": "polyester", "style": "crew neck"}', true, 52.88);
INSERT INTO retail.items VALUES ('9647292434', '9523456873', '{"color": "purple", "size": "S", "material": "polyester", "style": "v-neck"}', true, 53.48);
INSERT INTO retail.items VALUES ('8349118980', '9523456873', '{"color": "blue", "size": "S", "material": "cotton", "style": "v-neck"}', true, 53.43);
INSERT INTO retail.items VALUES ('5047954489', '9523456873', '{"color": "blue", "size": "S", "material": "polyester", "style": "v-neck"}', false, 54.84);
INSERT INTO retail.items VALUES ('3799046073', '9523456873', '{"color": "black", "size": "XXL", "material": "cotton", "style": "crew neck"}', true, 53.27);
INSERT INTO retail.items VALUES ('3234800602', '9523456873', '{"color": "red", "size": "L", "material": "cotton", "style": "v-neck"}', true, 46.66);
INSERT INTO retail.items VALUES ('3542102174', '9523456873', '{"color": "red", "size": "S", "material": "cotton", "style": "crew neck"}', false, 47.25);
INSERT INTO retail.items VALUES ('2060066974', '9523456873', '{"color": "black", "size": "XL", "material": "cotton", "style": "crew neck"}', true, 51.05);
INSERT INTO retail.products VALUES ('8310926033', 'Water Bottle');
INSERT INTO retail.items VALUES ('1434748144', '8310926033', '{"capacity": "1000ml", "material": "glass", "color": "red"}', false, 49.72);
INSERT INTO retail.items VALUES ('4579334072', '8310926033', '{"capacity": "750ml", "material": "glass", "color": "black"}', true, 54.85);
INSERT INTO retail.items VALUES ('6469567736', '8310926033', '{"capacity": "1000ml", "material": "glass", "color": "blue"}', false, 47.84);
INSERT INTO retail.items VALUES ('3453331371', '8310926033', '{"capacity": "500ml", "material": "stainless steel", "color": "black"}', true, 52.79);
INSERT INTO retail.items VALUES ('2439754078', '8310926033', '{"capacity": "1000ml", "material": "stainless steel", "color": "red"}', true, 49.51);
INSERT INTO retail.items VALUES ('7843064651', '8310926033', '{"capacity": "750ml", "material": "stainless steel", "color": "blue"}', true, 50.14);
INSERT INTO retail.items VALUES ('7918497119', '8310926033', '{"capacity": "500ml", "material": "glass", "color": "blue"}', false, 54.51);
INSERT INTO retail.items VALUES ('5758737025', '8310926033', '{"capacity": "500ml", "material": "glass", "color": "green"}', true, 45.09);
INSERT INTO retail.items VALUES ('7533802601', '8310926033', '{"capacity": "500ml", "material": "stainless steel", "color": "green"}', true, 48.59);
INSERT INTO retail.items VALUES ('3229676465', '8310926033', '{"capacity": "500ml", "material": "plastic", "color": "black"}', true, 51.94);
INSERT INTO retail.items VALUES ('2366567022', '8310926033', '{"capacity": "1000ml", "material": "stainless steel", "color": "blue"}', false, 54.04);
INSERT INTO retail.items VALUES ('6974536207', '8310926033', '{"capacity": "750ml", "material": "plastic", "color": "blue"}', true, 49.3);
INSERT INTO retail.items VALUES ('6777246137', '8310926033', '{"capacity": "750ml", "material": "stainless steel", "color": "red"}', true, 47.76);
INSERT INTO retail.items VALUES ('8538875209', '8310926033', '{"capacity": "500ml", "material": "glass", "color": "black"}', true, 45.13);
INSERT INTO retail.items VALUES ('9127591879', '8310926033', '{"capacity": "750ml", "material": "stainless steel", "color": "black"}', false, 48.47);
INSERT INTO retail.items VALUES ('7661609223', '8310926033', '{"capacity": "1000ml", "material": "stainless steel", "color": "black"}', true, 46.51);
INSERT INTO retail.items VALUES ('4947921075', '8310926033', '{"capacity": "750ml", "material": "stainless steel", "color": "green"}', false, 49.57);
INSERT INTO retail.items VALUES ('7199146548', '8310926033', '{"capacity": "750ml", "material": "plastic", "color": "black"}', true, 48.02);
INSERT INTO retail.products VALUES ('7314138884', 'Sunglasses');
INSERT INTO retail.items VALUES ('2177260429', '7314138884', '{"frame color": "black", "lens color": "green", "lens type": "polarized", "frame material": "metal"}', false, 296.47);
INSERT INTO retail.items VALUES ('4548300368', '7314138884', '{"frame color": "black", "lens color": "green", "lens type": "polarized", "frame material": "plastic"}', true, 287.79);
INSERT INTO retail.items VALUES ('4358482460', '7314138884', '{"frame color": "black", "lens color": "brown", "lens type": "polarized", "frame material": "plastic"}', true, 290.94);
INSERT INTO retail.items VALUES ('2198125883', '7314138884', '{"frame color": "silver", "lens color": "black", "lens type": "polarized", "frame material": "metal"}', true, 296.16);
INSERT INTO retail.items VALUES ('9045948550', '7314138884', '{"frame color": "black", "lens color": "blue", "lens type": "polarized", "frame material": "metal"}', false, 279.78);
INSERT INTO retail.items VALUES ('4245201809', '7314138884', '{"frame color": "black", "lens color": "green", "lens type": "non-polarized", "frame material": "metal"}', true, 281.48);
INSERT INTO retail.items VALUES ('9672174103', '7314138884', '{"frame color": "brown", "lens color": "brown", "lens type": "polarized", "frame material": "plastic"}', true, 281.98);
INSERT INTO retail.items VALUES ('4329558751', '7314138884', '{"frame color": "silver", "lens color": "blue", "lens type": "non-polarized", "frame material": "plastic"}', true, 297.33);
INSERT INTO retail.products VALUES ('5713490933', 'Gaming Mouse');
INSERT INTO retail.items VALUES ('8896479688', '5713490933', '{"color": "white", "sensor type": "optical", "connectivity": "wireless"}', true, 143.15);
INSERT INTO retail.items VALUES ('8214883393', '5713490933', '{"color": "black", "sensor type": "laser", "connectivity": "wireless"}', true, 150.58);
INSERT INTO retail.items VALUES ('7420906769', '5713490933', '{"color": "white", "sensor type": "laser", "connectivity": "wireless"}', false, 138.47);
INSERT INTO retail.items VALUES ('2193628750', '5713490933', '{"color": "black", "sensor type": "laser", "connectivity": "wired"}', true, 162.15);
INSERT INTO retail.items VALUES ('2880340443', '5713490933', '{"color": "white", "sensor type": "optical", "connectivity": "wired"}', true, 137.22);
INSERT INTO retail.items VALUES ('5019835484', '5713490933', '{"color": "RGB", "sensor type": "laser", "connectivity": "wired"}', false, 138.73);
INSERT INTO retail.items VALUES ('3330317167', '5713490933', '{"color": "black", "sensor type": "optical", "connectivity": "wired"}', true, 137.32);
INSERT INTO retail.items VALUES ('5796612084', '5713490933', '{"color": "RGB", "sensor type": "optical", "connectivity": "wired"}', false, 158.89);
INSERT INTO retail.products VALUES ('1656367028', 'Mechanical Keyboard');
INSERT INTO retail.items VALUES ('9690244451', '1656367028', '{"switch type": "clicky", "backlight": "RGB", "size": "60%"}', false, 236.51);
INSERT INTO retail.items VALUES ('7706410293', '1656367028', '{"switch type": "clicky", "backlight": "none", "size": "full size"}', true, 269.16);
INSERT INTO retail.items VALUES ('3616838507', '1656367028', '{"switch type": "tactile", "backlight": "white", "size": "full size"}', true, 226.11);
INSERT INTO retail.items VALUES ('8484921793', '1656367028', '{"switch type": "linear", "backlight": "RGB", "size": "80%"}', true, 230.15);
INSERT INTO retail.items VALUES ('1340995114', '1656367028', '{"switch type": "tactile", "backlight": "none", "size": "full size"}', false, 235.13);
INSERT INTO retail.items VALUES ('6342039236', '1656367028', '{"switch type": "clicky", "backlight": "white", "size": "full size"}', true, 244.91);
INSERT INTO retail.items VALUES ('1421289881', '1656367028', '{"switch type": "linear", "backlight": "none", "size": "80%"}', true, 268.77);
INSERT INTO retail.items VALUES ('7867398203', '1656367028', '{"switch type": "linear", "backlight": "RGB", "size": "60%"}', true, 232.7);
INSERT INTO retail.items VALUES ('4648814700', '1656367028', '{"switch type": "linear", "backlight": "white", "size": "60%"}', false, 228.84);
INSERT INTO retail.items VALUES ('5222576926', '1656367028', '{"switch type": "linear", "backlight": "white", "size": "full size"}', false, 249.95);
INSERT INTO retail.items VALUES ('4402162122', '1656367028', '{"switch type": "tactile", "backlight": "RGB", "size": "60%"}', true, 233.9);
INSERT INTO retail.items VALUES ('1151293680', '1656367028', '{"switch type": "linear", "backlight": "RGB", "size": "full size"}', true, 272.33);
INSERT INTO retail.items VALUES ('2299424241', '1656367028', '{"switch type": "clicky", "backlight": "RGB", "size": "80%"}', true, 237.48);
INSERT INTO retail.items VALUES ('4843487907', '1656367028', '{"switch type": "clicky", "backlight": "white", "size": "80%"}', false, 254.84);
INSERT INTO retail.items VALUES ('9025753381', '1656367028', '{"switch type": "clicky", "backlight": "RGB", "size": "full size"}', false, 231.58);
INSERT INTO retail.items VALUES ('6439196450', '1656367028', '{"switch type": "tactile", "backlight": "none", "size": "60%"}', false, 254.56);
INSERT INTO retail.items VALUES ('9991484137', '1656367028', '{"switch type": "tactile", "backlight": "white", "size": "80%"}', true, 240.97);
INSERT INTO retail.items VALUES ('9665000388', '1656367028', '{"switch type": "clicky", "backlight": "none", "size": "80%"}', true, 269.46);
INSERT INTO retail.items VALUES ('9570044148', '1656367028', '{"switch type": "linear", "backlight": "none", "size": "full size"}', true, 231.37);
INSERT INTO retail.items VALUES ('7658724607', '1656367028', '{"switch type": "tactile", "backlight": "none", "size": "80%"}', true, 256.73);
INSERT INTO retail.products VALUES ('9924732112', 'Wireless Earbuds');
INSERT INTO retail.items VALUES ('9580569596', '9924732112', '{"color": "black", "battery life": "4 hours", "water resistance": "IPX7"}', true, 257.38);
INSERT INTO retail.items VALUES ('2499294441', '9924732112', '{"color": "black", "battery life": "8 hours", "water resistance": "IPX7"}', false, 258.36);
INSERT INTO retail.items VALUES ('1646531091', '9924732112', '{"color": "blue", "battery life": "6 hours", "water resistance": "IPX4"}', true, 232.49);
INSERT INTO retail.items VALUES ('8555936349', '9924732112', '{"color": "blue", "battery life": "8 hours", "water resistance": "IPX4"}', true, 226.49);
INSERT INTO retail.items VALUES ('5565631513', '9924732112', '{"color": "black", "battery life": "6 hours", "water resistance": "IPX7"}', false, 267.9);
INSERT INTO retail.items VALUES ('6077640618', '9924732112', '{"color": "blue", "battery life": "8 hours", "water resistance": "not resistant"}', true, 242.92);
INSERT INTO retail.items VALUES ('9270970345', '9924732112', '{"color": "black", "battery life": "6 hours", "water resistance": "not resistant"}', false, 259.03);
INSERT INTO retail.items VALUES ('4063058357', '9924732112', '{"color": "black", "battery life": "4 hours", "water resistance": "not resistant"}', true, 243.34);
INSERT INTO retail.items VALUES ('3694871183', '9924732112', '{"color": "white", "battery life": "8 hours", "water resistance": "IPX4"}', false, 256.67);
INSERT INTO retail.items VALUES ('6452271382', '9924732112', '{"color": "blue", "battery life": "4 hours", "water resistance": "IPX4"}', true, 258.84);
INSERT INTO retail.items VALUES ('2052249669', '9924732112', '{"color": "white", "battery life": "4 hours", "water resistance": "not resistant"}', true, 237.14);
INSERT INTO retail.items VALUES ('2757705742', '9924732112', '{"color": "blue", "battery life": "4 hours", "water resistance": "IPX7"}', false, 258.97);
INSERT INTO retail.products VALUES ('4896585277', 'Smart Thermostat');
INSERT INTO retail.items VALUES ('8722653925', '4896585277', '{"compatibility": "Google Assistant", "color": "white"}', false, 227.8);
INSERT INTO retail.items VALUES ('8593894906', '4896585277', '{"compatibility": "Amazon Alexa", "color": "white"}', false, 263.11);
INSERT INTO retail.items VALUES ('2791467853', '4896585277', '{"compatibility": "Google Assistant", "color": "stainless steel"}', false, 242.53);
INSERT INTO retail.items VALUES ('7747408585', '4896585277', '{"compatibility": "Google Assistant", "color": "black"}', true, 249.01);
INSERT INTO retail.items VALUES ('4953074738', '4896585277', '{"compatibility": "Amazon Alexa", "color": "black"}', true, 226.02);
INSERT INTO retail.items VALUES ('4983901480', '4896585277', '{"compatibility": "Apple HomeKit", "color": "black"}', true, 262.47);
INSERT INTO retail.items VALUES ('9480266227', '4896585277', '{"compatibility": "Apple HomeKit", "color": "stainless steel"}', true, 255.98);
INSERT INTO retail.items VALUES ('6243148452', '4896585277', '{"compatibility": "Amazon Alexa", "color": "stainless steel"}', true, 247.0);
INSERT INTO retail.items VALUES ('3377900078', '4896585277', '{"compatibility": "Apple HomeKit", "color": "white"}', true, 260.68);
INSERT INTO retail.products VALUES ('2747247837', 'Pet Bed');
INSERT INTO retail.items VALUES ('3360679910', '2747247837', '{"size": "medium", "material": "memory foam", "color": "beige"}', true, 195.26);
INSERT INTO retail.items VALUES ('4537595158', '2747247837', '{"size": "small", "material": "fleece", "color": "brown"}', false, 193.79);
INSERT INTO retail.items VALUES ('6499892866', '2747247837', '{"size": "medium", "material": "polyester", "color": "beige"}', true, 191.21);
INSERT INTO retail.items VALUES ('4982943126', '2747247837', '{"size": "small", "material": "fleece", "color": "beige"}', false, 214.33);
INSERT INTO retail.items VALUES ('2751999929', '2747247837', '{"size": "large", "material": "memory foam", "color": "grey"}', true, 195.11);
INSERT INTO retail.items VALUES ('7729002517', '2747247837', '{"size": "large", "material": "polyester", "color": "brown"}', true, 193.0);
INSERT INTO retail.items VALUES ('8056198669', '2747247837', '{"size": "small", "material": "polyester", "color": "brown"}', true, 208.32);
INSERT INTO retail.items VALUES ('5067898160', '2747247837', '{"size": "medium", "material": "memory foam", "color": "brown"}', false, 209.95);
INSERT INTO retail.items VALUES ('6857426243', '2747247837', '{"size": "medium", "material": "fleece", "color": "grey"}', true, 196.53);
INSERT INTO retail.items VALUES ('2405281423', '2747247837', '{"size": "medium", "material": "polyester", "color": "grey"}', true, 204.09);
INSERT INTO retail.items VALUES ('7917269097', '2747247837', '{"size": "large", "material": "polyester", "color": "grey"}', true, 184.25);
INSERT INTO retail.items VALUES ('6942241102', '2747247837', '{"size": "large", "material": "memory foam", "color": "beige"}', true, 180.93);
INSERT INTO retail.items VALUES ('8941974610', '2747247837', '{"size": "large", "material": "fleece", "color": "beige"}', false, 200.66);
INSERT INTO retail.items VALUES ('7381052709', '2747247837', '{"size": "large", "material": "memory foam", "color": "brown"}', true, 193.22);
INSERT INTO retail.items VALUES ('5109407456', '2747247837', '{"size": "small", "material": "fleece", "color": "grey"}', true, 182.48);
INSERT INTO retail.products VALUES ('4354588079', 'Espresso Machine');
INSERT INTO retail.items VALUES ('3709608322', '4354588079', '{"pressure": "9 bar", "capacity": "2L", "type": "automatic"}', true, 2744.7);
INSERT INTO retail.items VALUES ('7407838442', '4354588079', '{"pressure": "9 bar", "capacity": "1L", "type": "manual"}', true, 3081.91);
INSERT INTO retail.items VALUES ('6324294385', '4354588079', '{"pressure": "9 bar", "capacity": "1L", "type": "automatic"}', false, 2719.01);
INSERT INTO retail.items VALUES ('1157853815', '4354588079', '{"pressure": "19 bar", "capacity": "2L", "type": "capsule"}', true, 3096.7);
INSERT INTO retail.items VALUES ('2190871011', '4354588079', '{"pressure": "9 bar", "capacity": "1.5L", "type": "manual"}', true, 3105.6);
INSERT INTO retail.items VALUES ('3714494375', '4354588079', '{"pressure": "15 bar", "capacity": "1L", "type": "manual"}', true, 2709.83);
INSERT INTO retail.items VALUES ('4875647558', '4354588079', '{"pressure": "15 bar", "capacity": "1L", "type": "capsule"}', false, 2805.77);
INSERT INTO retail.items VALUES ('7441167885', '4354588079', '{"pressure": "15 bar", "capacity": "1.5L", "type": "capsule"}', false, 2866.37);
INSERT INTO retail.items VALUES ('3815173328', '4354588079', '{"pressure": "9 bar", "capacity": "1.5L", "type": "capsule"}', true, 2908.42);
INSERT INTO retail.items VALUES ('5839483328', '4354588079', '{"pressure": "15 bar", "capacity": "2L", "type": "automatic"}', false, 2929.06);
INSERT INTO retail.items VALUES ('7806008610', '4354588079', '{"pressure": "9 bar", "capacity": "1L", "type": "capsule"}', true, 2742.67);
INSERT INTO retail.items VALUES ('7774234341', '4354588079', '{"pressure": "9 bar", "capacity": "2L", "type": "manual"}', true, 2719.16);
INSERT INTO retail.items VALUES ('3951031513', '4354588079', '{"pressure": "19 bar", "capacity": "1.5L", "type": "automatic"}', true, 3289.46);
INSERT INTO retail.items VALUES ('6242772310', '4354588079', '{"pressure": "19 bar", "capacity": "1L", "type": "automatic"}', false, 2996.03);
INSERT INTO retail.items VALUES ('6200867091', '4354588079', '{"pressure": "19 bar", "capacity": "1L", "type": "capsule"}', true, 2955.17);
INSERT INTO retail.items VALUES ('9884666842', '4354588079', '{"pressure": "19 bar", "capacity": "1L", "type": "manual"}', true, 2794.7);
INSERT INTO retail.items VALUES ('3379843752', '4354588079', '{"pressure": "19 bar", "capacity": "2L", "type": "manual"}', true, 3203.76);
INSERT INTO retail.products VALUES ('8940227892', 'Digital Camera');
INSERT INTO retail.items VALUES ('6384525445', '8940227892', '{"resolution": "30MP", "zoom": "5x", "storage": "CF card"}', true, 2929.62);
INSERT INTO retail.items VALUES ('3892645120', '8940227892', '{"resolution": "30MP", "zoom": "10x", "storage": "CF card"}', false, 3070.64);
INSERT INTO retail.items VALUES ('1804581713', '8940227892', '{"resolution": "30MP", "zoom": "3x", "storage": "SD card"}', true, 2875.61);
INSERT INTO retail.items VALUES ('9644439410', '8940227892', '{"resolution": "20MP", "zoom": "5x", "storage": "CF card"}', true, 3280.31);
INSERT INTO retail.items VALUES ('5996159312', '8940227892', '{"resolution": "24MP", "zoom": "3x", "storage": "SD card"}', true, 2895.55);
INSERT INTO retail.items VALUES ('7255224608', '8940227892', '{"resolution": "30MP", "zoom": "3x", "storage": "CF card"}', true, 2922.97);
INSERT INTO retail.items VALUES ('2284404181', '8940227892', '{"resolution": "20MP", "zoom": "5x", "storage": "SD card"}', false, 3204.43);
INSERT INTO retail.items VALUES ('7583936705', '8940227892', '{"resolution": "20MP", "zoom": "10x", "storage": "CF card"}', false, 3101.43);
INSERT INTO retail.items VALUES ('9973034634', '8940227892', '{"resolution": "20MP", "zoom": "3x", "storage": "CF card"}', false, 2850.32);
INSERT INTO retail.items VALUES ('5484530610', '8940227892', '{"resolution": "24MP", "zoom": "10x", "storage": "CF card"}', false, 3109.83);
INSERT INTO retail.items VALUES ('4326528037', '8940227892', '{"resolution": "24MP", "zoom": "5x", "storage": "CF card"}', true, 2714.51);
INSERT INTO retail.items VALUES ('9228757377', '8940227892', '{"resolution": "30MP", "zoom": "10x", "storage": "SD card"}', true, 3066.23);
INSERT INTO retail.items VALUES ('7195021808', '8940227892', '{"resolution": "30MP", "zoom": "5x", "storage": "SD card"}', false, 2909.87);
INSERT INTO retail.items VALUES ('8363011723', '8940227892', '{"resolution": "20MP", "zoom": "3x", "storage": "SD card"}', true, 2823.96);
INSERT INTO retail.products VALUES ('4794339885', 'Office Chair');
INSERT INTO retail.items VALUES ('1793929609', '4794339885', '{"material": "fabric", "color": "black", "armrest": "none", "backrest height": "high-back"}', true, 514.34);
INSERT INTO retail.items VALUES ('4274709903', '4794339885', '{"material": "mesh", "color": "red", "armrest": "none", "backrest height": "standard"}', true, 544.29);
INSERT INTO retail.items VALUES ('8426249116', '4794339885', '{"material": "fabric", "color": "black", "armrest": "fixed", "backrest height": "standard"}', true, 488.81);
INSERT INTO retail.items VALUES ('1071497737', '4794339885', '{"material": "leather", "color": "gray", "armrest": "fixed", "backrest height": "high-back"}', true, 483.95);
INSERT INTO retail.items VALUES ('4168944673', '4794339885', '{"material": "leather", "color": "blue", "armrest": "none", "backrest height": "standard"}', true, 471.82);
INSERT INTO retail.items VALUES ('3704016729', '4794339885', '{"material": "mesh", "color": "blue", "armrest": "fixed", "backrest height": "standard"}', true, 487.67);
INSERT INTO retail.items VALUES ('8069050545', '4794339885', '{"material": "leather", "color": "blue", "armrest": "none", "backrest height": "high-back"}', true, 499.28);
INSERT INTO retail.items VALUES ('8323284863', '4794339885', '{"material": "fabric", "color": "blue", "armrest": "adjustable", "backrest height": "standard"}', true, 511.24);
INSERT INTO retail.items VALUES ('3609437808', '4794339885', '{"material": "leather", "color": "red", "armrest": "none", "backrest height": "high-back"}', false, 466.44);
INSERT INTO retail.items VALUES ('4648362606', '4794339885', '{"material": "leather", "color": "black", "armrest": "adjustable", "backrest height": "high-back"}', true, 503.76);
INSERT INTO retail.items VALUES ('2386562819', '4794339885', '{"material": "mesh", "color": "gray", "armrest": "fixed", "backrest height": "high-back"}', true, 508.21);
INSERT INTO retail.items VALUES ('3915604618', '4794339885', '{"material": "leather", "color": "blue", "armrest": "fixed", "backrest height": "standard"}', true, 487.6);
INSERT INTO retail.items VALUES ('9459890810', '4794339885', '{"material": "fabric", "color": "gray", "armrest": "none", "backrest height": "high-back"}', true, 510.1);
INSERT INTO retail.products VALUES ('6945232052', 'Smart Watch');
INSERT INTO retail.items VALUES ('4920090458', '6945232052', '{"color": "black", "band material": "silicone", "display": "AMOLED"}', false, 381.87);
INSERT INTO retail.items VALUES ('9320099340', '6945232052', '{"color": "black", "band material": "leather", "display": "AMOLED"}', false, 375.03);
INSERT INTO retail.items VALUES ('2860956907', '6945232052', '{"color": "black", "band material": "silicone", "display": "LCD"}', true, 315.61);
INSERT INTO retail.items VALUES ('1631806422', '6945232052', '{"color": "black", "band material": "metal", "display": "AMOLED"}', false, 339.85);
INSERT INTO retail.items VALUES ('9192177173', '6945232052', '{"color": "gold", "band material": "metal", "display": "LCD"}', false, 335.99);
INSERT INTO retail.items VALUES ('4900990404', '6945232052', '{"color": "silver", "band material": "metal", "display": "AMOLED"}', false, 336.71);
INSERT INTO retail.items VALUES ('8739626972', '6945232052', '{"color": "silver", "band material": "silicone", "display": "AMOLED"}', false, 370.87);
INSERT INTO retail.items VALUES ('1706622510', '6945232052', '{"color": "black", "band material": "metal", "display": "LCD"}', false, 328.67);
INSERT INTO retail.items VALUES ('2540052208', '6945232052', '{"color": "gold", "band material": "silicone", "display": "LCD"}', false, 346.42);
INSERT INTO retail.items VALUES ('5694328282', '6945232052', '{"color": "gold", "band material": "leather", "display": "AMOLED"}', true, 323.19);
INSERT INTO retail.items VALUES ('9408160950', '6945232052', '{"color": "gold", "band material": "leather", "display": "LCD"}', true, 381.26);
INSERT INTO retail.items VALUES ('2554056026', '6945232052', '{"color": "gold", "band material": "metal", "display": "AMOLED"}', false, 367.38);
INSERT INTO retail.items VALUES ('1007724142', '6945232052', '{"color": "black", "band material": "leather", "display": "LCD"}', true, 382.41);
INSERT INTO retail.items VALUES ('2993891288', '6945232052', '{"color": "silver", "band material": "leather", "display": "AMOLED"}', false, 383.08);
INSERT INTO retail.items VALUES ('9811090008', '6945232052', '{"color": "silver", "band material": "leather", "display": "LCD"}', true, 370.38);
INSERT INTO retail.items VALUES ('2681513500', '6945232052', '{"color": "gold", "band material": "silicone", "display": "AMOLED"}', true, 356.23);
INSERT INTO retail.products VALUES ('3821016478', 'Air Purifier');
INSERT INTO retail.items VALUES ('8302289002', '3821016478', '{"room size": "large", "filter type": "HEPA", "features": "night mode"}', true, 547.55);
INSERT INTO retail.items VALUES ('3676786561', '3821016478', '{"room size": "small", "filter type": "HEPA", "features": "quiet operation"}', true, 502.7);
INSERT INTO retail.items VALUES ('5669664287', '3821016478', '{"room size": "small", "filter type": "ionic", "features": "quiet operation"}', true, 543.68);
INSERT INTO retail.items VALUES ('6341716129', '3821016478', '{"room size": "large", "filter type": "HEPA", "features": "smart sensors"}', false, 523.31);
INSERT INTO retail.items VALUES ('4035304400', '3821016478', '{"room size": "medium", "filter type": "HEPA", "features": "smart sensors"}', false, 504.19);
INSERT INTO retail.items VALUES ('5826601160', '3821016478', '{"room size": "medium", "filter type": "carbon", "features": "night mode"}', false, 506.15);
INSERT INTO retail.items VALUES ('3076708684', '3821016478', '{"room size": "medium", "filter type": "HEPA", "features": "quiet operation"}', true, 535.97);
INSERT INTO retail.items VALUES ('7166996157', '3821016478', '{"room size": "small", "filter type": "HEPA", "features": "night mode"}', true, 518.31);
INSERT INTO retail.items VALUES ('1327854740', '3821016478', '{"room size": "medium", "filter type": "HEPA", "features": "night mode"}', true, 492.65);
INSERT INTO retail.items VALUES ('9534205511', '3821016478', '{"room size": "large", "filter type": "ionic", "features": "smart sensors"}', true, 473.43);
INSERT INTO retail.items VALUES ('9375701158', '3821016478', '{"room size": "medium", "filter type": "carbon", "features": "quiet operation"}', true, 489.5);
INSERT INTO retail.products VALUES ('1968349452', 'Skateboard');
INSERT INTO retail.items VALUES ('6843647669', '1968349452', '{"deck material": "bamboo", "length": "28 inch", "design": "graphic"}', true, 180.1);
INSERT INTO retail.items VALUES ('3232433601', '1968349452', '{"deck material": "maple", "length": "28 inch", "design": "plain"}', true, 204.14);
INSERT INTO retail.items VALUES ('3098764622', '1968349452', '{"deck material": "plastic", "length": "34 inch", "design": "plain"}', true, 202.13);
INSERT INTO retail.items VALUES ('3541421151', '1968349452', '{"deck material": "bamboo", "length": "34 inch", "design": "graphic"}', true, 193.79);
INSERT INTO retail.items VALUES ('4545791457', '1968349452', '{"deck material": "plastic", "length": "28 inch", "design": "plain"}', true, 186.06);
INSERT INTO retail.items VALUES ('6313971174', '1968349452', '{"deck material": "bamboo", "length": "31 inch", "design": "custom"}', true, 193.97);
INSERT INTO retail.items VALUES ('3877188862', '1968349452', '{"deck material": "plastic", "length": "31 inch", "design": "plain"}', true, 182.03);
INSERT INTO retail.items VALUES ('5038485381', '1968349452', '{"deck material": "plastic", "length": "31 inch", "design": "custom"}', true, 189.65);
INSERT INTO retail.items VALUES ('9594745976', '1968349452', '{"deck material": "plastic", "length": "34 inch", "design": "custom"}', true, 184.13);
INSERT INTO retail.items VALUES ('6673921677', '1968349452', '{"deck material": "bamboo", "length": "28 inch", "design": "custom"}', true, 189.57);
INSERT INTO retail.items VALUES ('6956751343', '1968349452', '{"deck material": "bamboo", "length": "34 inch", "design": "custom"}', true, 217.06);
INSERT INTO retail.items VALUES ('5489028872', '1968349452', '{"deck material": "plastic", "length": "34 inch", "design": "graphic"}', true, 187.71);
INSERT INTO retail.items VALUES ('8176740019', '1968349452', '{"deck material": "bamboo", "length": "28 inch", "design": "plain"}', true, 208.6);
INSERT INTO retail.items VALUES ('5120532699', '1968349452', '{"deck material": "maple", "length": "31 inch", "design": "graphic"}', true, 187.23);
INSERT INTO retail.items VALUES ('5312063289', '1968349452', '{"deck material": "bamboo", "length": "31 inch", "design": "graphic"}', true, 195.15);
INSERT INTO retail.items VALUES ('4293355847', '1968349452', '{"deck material": "bamboo", "length": "31 inch", "design": "plain"}', true, 200.8);
INSERT INTO retail.items VALUES ('2819462352', '1968349452', '{"deck material": "maple", "length": "28 inch", "design": "graphic"}', true, 180.66);
INSERT INTO retail.items VALUES ('2177997696', '1968349452', '{"deck material": "plastic", "length": "28 inch", "design": "custom"}', true, 206.6);
INSERT INTO retail.items VALUES ('2343503231', '1968349452', '{"deck material": "maple", "length": "34 inch", "design": "graphic"}', false, 196.86);
INSERT INTO retail.products VALUES ('6992792935', 'Headphones');
INSERT INTO retail.items VALUES ('9314474252', '6992792935', '{"type": "in-ear", "connectivity": "wireless", "color": "blue"}', false, 330.08);
INSERT INTO retail.items VALUES ('5788631787', '6992792935', '{"type": "on-ear", "connectivity": "wireless", "color": "black"}', false, 375.55);
INSERT INTO retail.items VALUES ('3374679624', '6992792935', '{"type": "over-ear", "connectivity": "wired", "color": "black"}', true, 370.53);
INSERT INTO retail.items VALUES ('3104857380', '6992792935', '{"type": "on-ear", "connectivity": "wireless", "color": "red"}', true, 377.97);
INSERT INTO retail.items VALUES ('7493556126', '6992792935', '{"type": "over-ear", "connectivity": "wireless", "color": "black"}', true, 346.97);
INSERT INTO retail.items VALUES ('5635439102', '6992792935', '{"type": "over-ear", "connectivity": "wired", "color": "blue"}', false, 353.76);
INSERT INTO retail.items VALUES ('9805150490', '6992792935', '{"type": "on-ear", "connectivity": "wireless", "color": "white"}', true, 368.87);
INSERT INTO retail.items VALUES ('4202497723', '6992792935', '{"type": "over-ear", "connectivity": "wireless", "color": "blue"}', false, 342.81);
INSERT INTO retail.items VALUES ('2231112417', '6992792935', '{"type": "over-ear", "connectivity": "wired", "color": "red"}', false, 364.22);
INSERT INTO retail.items VALUES ('7184044281', '6992792935', '{"type": "in-ear", "connectivity": "wireless", "color": "black"}', true, 344.55);
INSERT INTO retail.items VALUES ('2025713343', '6992792935', '{"type": "on-ear", "connectivity": "wired", "color": "white"}', false, 336.15);
INSERT INTO retail.items VALUES ('9838673490', '6992792935', '{"type": "in-ear", "connectivity": "wireless", "color": "red"}', false, 344.55);
INSERT INTO retail.items VALUES ('1133777903', '6992792935', '{"type": "in-ear", "connectivity": "wired", "color": "red"}', false, 359.66);
INSERT INTO retail.products VALUES ('1762337868', 'Vacuum Cleaner');
INSERT INTO retail.items VALUES ('4602305039', '1762337868', '{"type": "robotic", "bagged/bagless": "bagged", "features": "cordless"}', true, 561.05);
INSERT INTO retail.items VALUES ('3019027053', '1762337868', '{"type": "upright", "bagged/bagless": "bagless", "features": "cordless"}', false, 553.03);
INSERT INTO retail.items VALUES ('1345513440', '1762337868', '{"type": "canister", "bagged/bagless": "bagged", "features": "cordless"}', true, 655.59);
INSERT INTO retail.items VALUES ('4806644905', '1762337868', '{"type": "robotic", "bagged/bagless": "bagless", "features": "cordless"}', true, 658.89);
INSERT INTO retail.items VALUES ('7407609582', '1762337868', '{"type": "upright", "bagged/bagless": "bagless", "features": "HEPA filter"}', true, 602.48);
INSERT INTO retail.items VALUES ('4965355367', '1762337868', '{"type": "robotic", "bagged/bagless": "bagless", "features": "pet hair removal"}', true, 620.07);
INSERT INTO retail.items VALUES ('3526747930', '1762337868', '{"type": "upright", "bagged/bagless": "bagged", "features": "pet hair removal"}', true, 540.12);
INSERT INTO retail.items VALUES ('2872451762', '1762337868', '{"type": "canister", "bagged/bagless": "bagged", "features": "pet hair removal"}', true, 622.12);
INSERT INTO retail.items VALUES ('7958300294', '1762337868', '{"type": "canister", "bagged/bagless": "bagless", "features": "pet hair removal"}', true, 642.72);
INSERT INTO retail.items VALUES ('9970989750', '1762337868', '{"type": "upright", "bagged/bagless": "bagged", "features": "cordless"}', false, 569.43);
INSERT INTO retail.items VALUES ('4725166838', '1762337868', '{"type": "robotic", "bagged/bagless": "bagless", "features": "HEPA filter"}', true, 602.11);
INSERT INTO retail.items VALUES ('1304426904', '1762337868', '{"type": "canister", "bagged/bagless": "bagless", "features": "HEPA filter"}', false, 565.79);
INSERT INTO retail.items VALUES ('6259501109', '1762337868', '{"type": "robotic", "bagged/bagless": "bagged", "features": "pet hair removal"}', false, 652.61);
INSERT INTO retail.users VALUES ('yusuf_rossi_9620', 'Yusuf', 'Rossi', 'yusuf.rossi7301@example.com', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122');
INSERT INTO retail.payment_methods VALUES ('credit_card_9513926', 'yusuf_rossi_9620', 'credit_card', 'mastercard', '2478', NULL);
INSERT INTO retail.users VALUES ('mei_davis_8935', 'Mei', 'Davis', 'mei.davis6811@example.com', '698 Maple Drive', 'Suite 465', 'Denver', 'CO', 'USA', '80217');
INSERT INTO retail.payment_methods VALUES ('credit_card_1061405', 'mei_davis_8935', 'credit_card', 'mastercard', '1037', NULL);
INSERT INTO retail.orders VALUES ('#W6247578', 'yusuf_rossi_9620', 'pending', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122', NULL);
INSERT INTO retail.order_items VALUES ('#W6247578', 1, '3799046073', 53.27, '{"color": "black", "size": "XXL", "material": "cotton", "style": "crew neck"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W6247578', 1, 'payment', 53.27, 'credit_card_9513926');
INSERT INTO retail.orders VALUES ('#W9711842', 'yusuf_rossi_9620', 'cancelled', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122', NULL);
INSERT INTO retail.order_items VALUES ('#W9711842', 1, '4245201809', 281.48, '{"frame color": "black", "lens color": "green", "lens type": "non-polarized", "frame material": "metal"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W9711842', 1, 'payment', 281.48, 'credit_card_9513926');
INSERT INTO retail.payments VALUES ('#W9711842', 2, 'refund', 281.48, 'credit_card_9513926');
INSERT INTO retail.fulfillments VALUES ('#W9711842', '540934230326', '["4245201809"]');
INSERT INTO retail.orders VALUES ('#W4776164', 'yusuf_rossi_9620', 'pending', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122', NULL);
INSERT INTO retail.order_items VALUES ('#W4776164', 1, '8349118980', 53.43, '{"color": "blue", "size": "S", "material": "cotton", "style": "v-neck"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W4776164', 2, '6324294385', 2719.01, '{"pressure": "9 bar", "capacity": "1L", "type": "automatic"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W4776164', 1, 'payment', 2772.44, 'credit_card_9513926');
INSERT INTO retail.orders VALUES ('#W6679257', 'yusuf_rossi_9620', 'delivered', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122', NULL);
INSERT INTO retail.order_items VALUES ('#W6679257', 1, '5996159312', 2895.55, '{"resolution": "24MP", "zoom": "3x", "storage": "SD card"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W6679257', 1, 'payment', 2895.55, 'credit_card_9513926');
INSERT INTO retail.fulfillments VALUES ('#W6679257', '522129247270', '["5996159312"]');
INSERT INTO retail.orders VALUES ('#W2378156', 'yusuf_rossi_9620', 'delivered', '763 Broadway', 'Suite 135', 'Philadelphia', 'PA', 'USA', '19122', NULL);
INSERT INTO retail.order_items VALUES ('#W2378156', 1, '4202497723', 342.81, '{"type": "over-ear", "connectivity": "wireless", "color": "blue"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2378156', 2, '4602305039', 561.05, '{"type": "robotic", "bagged/bagless": "bagged", "features": "cordless"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2378156', 3, '1151293680', 272.33, '{"switch type": "linear", "backlight": "RGB", "size": "full size"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2378156', 4, '4983901480', 262.47, '{"compatibility": "Apple HomeKit", "color": "black"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2378156', 5, '9408160950', 381.26, '{"color": "gold", "band material": "leather", "display": "LCD"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W2378156', 1, 'payment', 1819.92, 'credit_card_9513926');
INSERT INTO retail.fulfillments VALUES ('#W2378156', '843053632392', '["4202497723", "4602305039", "1151293680", "4983901480", "9408160950"]');
INSERT INTO retail.orders VALUES ('#W2890441', 'mei_davis_8935', 'delivered', '698 Maple Drive', 'Suite 465', 'Denver', 'CO', 'USA', '80217', NULL);
INSERT INTO retail.order_items VALUES ('#W2890441', 1, '2366567022', 54.04, '{"capacity": "1000ml", "material": "stainless steel", "color": "blue"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2890441', 2, '2751999929', 195.11, '{"size": "large", "material": "memory foam", "color": "grey"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2890441', 3, '8069050545', 499.28, '{"material": "leather", "color": "blue", "armrest": "none", "backrest height": "high-back"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W2890441', 4, '3877188862', 182.03, '{"deck material": "plastic", "length": "31 inch", "design": "plain"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W2890441', 1, 'payment', 930.46, 'credit_card_1061405');
INSERT INTO retail.fulfillments VALUES ('#W2890441', '642796688644', '["2366567022", "2751999929", "8069050545", "3877188862"]');
INSERT INTO retail.orders VALUES ('#W1267569', 'mei_davis_8935', 'pending', '698 Maple Drive', 'Suite 465', 'Denver', 'CO', 'USA', '80217', NULL);
INSERT INTO retail.order_items VALUES ('#W1267569', 1, '7420906769', 138.47, '{"color": "white", "sensor type": "laser", "connectivity": "wireless"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W1267569', 2, '7493556126', 346.97, '{"type": "over-ear", "connectivity": "wireless", "color": "black"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W1267569', 3, '1327854740', 492.65, '{"room size": "medium", "filter type": "HEPA", "features": "night mode"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W1267569', 4, '6243148452', 247.0, '{"compatibility": "Amazon Alexa", "color": "stainless steel"}', NULL, NULL);
INSERT INTO retail.order_items VALUES ('#W1267569', 5, '5565631513', 267.9, '{"color": "black", "battery life": "6 hours", "water resistance": "IPX7"}', NULL, NULL);
INSERT INTO retail.payments VALUES ('#W1267569', 1, 'payment', 1492.99, 'credit_card_1061405');
RESET ROLE;
