package recall_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/recall"
)

func TestDaysIn(t *testing.T) {
	t.Parallel()

	today := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string][]string{
		"What did we plan on 7 July, 2023?":      {"2023-07-07 2023-07-09"},
		"what was it on July 7th, 2023":          {"2023-07-07 2023-07-09"},
		"the dinner of 2024-01-23":               {"2024-01-23 2024-01-25"},
		"With whom was lunch on 21.01.2024?":     {"2024-01-21 2024-01-23"},
		"Which city in August 2023?":             {"2023-08-01 2023-09-01"},
		"an injury in 2023":                      {"2023-01-01 2024-01-01"},
		"what did I say yesterday?":              {"2026-03-13 2026-03-14"},
		"31 June 2023":                           {},
		"may I have 2 eggs and march on?":        {},
		"the soup with 12.5 grams, page 7.13.21": {},
	} {
		got := []string{}
		for _, one := range recall.DaysIn(text, today) {
			got = append(got, one[0].Format(time.DateOnly)+" "+one[1].Format(time.DateOnly))
		}
		require.Equal(t, want, got, text)
	}
	require.Len(t, recall.DaysIn("When did she go camping in June?", today), 5, "any recent year")
}

// K06: yesterday is the day before the database's, wherever the program's clock is.
func TestK06DaysFollowTheDatabasesClock(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	dbtest.SetClock(t, pool, -240*time.Hour)
	require.NoError(t, pg.InReadTx(t.Context(), pool, func(tx pgx.Tx) error {
		found, err := recall.NamedDays(t.Context(), tx, "What did I say yesterday?")
		require.Len(t, found, 1)
		require.WithinDuration(t, time.Now().Add(-264*time.Hour), found[0][0], 25*time.Hour)

		return err
	}))
}

// Yesterday is the user's, whose day may be another than the database's.
func TestNamedDaysAreTheUsers(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	user := stranger(t, pool)
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} { // 25 hours apart
		exec(t, pool, `UPDATE users SET timezone = $2 WHERE id = $1`, user, zone)
		require.NoError(t, pg.InReadTx(t.Context(), pool, func(tx pgx.Tx) error {
			return pg.AsTenant(t.Context(), tx, uuid.MustParse(user), func(tx pgx.Tx) error {
				found, err := recall.NamedDays(t.Context(), tx, "What did I say yesterday?")
				require.NoError(t, err)
				var yesterday time.Time
				require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_date - 1`).Scan(&yesterday))
				require.Equal(t, yesterday, found[0][0])

				return nil
			})
		}))
	}
}
