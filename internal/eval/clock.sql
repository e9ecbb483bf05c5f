-- The clock of a scratch database in which a conversation is held again: each turn begins at the moment at which it began
-- then, and what follows comes after that, before the next. What is seen of the past goes by these columns alone.
CREATE TABLE alfred.eval_clock (number integer PRIMARY KEY, at timestamptz NOT NULL, behind interval);

CREATE FUNCTION alfred.eval_then(moment timestamptz) RETURNS timestamptz LANGUAGE sql STRICT AS $$
    SELECT least(moment - c.behind, (SELECT min(n.at) - interval '1 microsecond' FROM alfred.eval_clock AS n WHERE n.number > c.number))
    FROM alfred.eval_clock AS c WHERE c.behind IS NOT NULL ORDER BY c.number DESC LIMIT 1
$$;

CREATE FUNCTION alfred.eval_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.started_at IS NULL AND NEW.started_at IS NOT NULL THEN
        UPDATE alfred.eval_clock AS c SET behind = NEW.started_at - c.at WHERE c.number = NEW.number;
        NEW.started_at := coalesce(alfred.eval_then(NEW.started_at), NEW.started_at);
    END IF;
    IF OLD.replied_at IS NULL THEN NEW.replied_at := coalesce(alfred.eval_then(NEW.replied_at), NEW.replied_at); END IF;
    IF OLD.finished_at IS NULL THEN NEW.finished_at := coalesce(alfred.eval_then(NEW.finished_at), NEW.finished_at); END IF;
    IF OLD.summarized_at IS NULL THEN NEW.summarized_at := coalesce(alfred.eval_then(NEW.summarized_at), NEW.summarized_at); END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER eval_clock BEFORE UPDATE ON alfred.turns FOR EACH ROW EXECUTE FUNCTION alfred.eval_turn();

CREATE FUNCTION alfred.eval_summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.created_at := coalesce(alfred.eval_then(NEW.created_at), NEW.created_at);
    RETURN NEW;
END $$;
CREATE TRIGGER eval_clock BEFORE INSERT ON alfred.history_summaries FOR EACH ROW EXECUTE FUNCTION alfred.eval_summary();
