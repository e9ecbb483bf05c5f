-- People read the labels of rows in a question, models its refs.

-- +goose Up

COMMENT ON COLUMN questions.payload IS 'text and options [{id, label, ref?}]; told is the same with refs, as models read it, where it names any; writes [{description, refs, save?}] are what a yes permits; for approve also the tool call and the keys of its rows.';

-- +goose Down

COMMENT ON COLUMN questions.payload IS 'text and options [{id, label, ref?}]; writes [{description, refs, save?}] are what a yes permits; for approve also the tool call and the keys of its rows.';
