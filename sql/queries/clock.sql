-- Clock is the clock that dates rows, and decides what day it is.
-- name: Clock :one
SELECT clock_timestamp()::timestamptz AS now;

-- Today is the day by that clock, in the time zone of the user whom the transaction acts for.
-- name: Today :one
SELECT clock_timestamp()::date AS today;

-- ClockSetBack brings times that have yet to come back to now, and returns how many there were.
-- name: ClockSetBack :one
SELECT clock_set_back()::bigint AS found;
