package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// refusesSettings reports whether a pooler stands before the server that takes no settings with a connection, as
// pgbouncer does unless it is told to ignore them.
func refusesSettings(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && pgErr.Code == pgerrcode.ProtocolViolation && strings.Contains(pgErr.Message, "unsupported startup parameter")
}

// Set gives the connections of config a setting: with the connection, or, where a pooler refuses that, by a first statement.
func Set(config *pgx.ConnConfig, name, value string) {
	before := config.AfterConnect
	if before == nil {
		config.RuntimeParams[name] = value

		return
	}
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if err := before(ctx, conn); err != nil {
			return err
		}
		result := conn.ExecParams(ctx, "SELECT set_config($1, $2, false)", [][]byte{[]byte(name), []byte(value)}, nil, nil, nil).Read()
		if result.Err != nil {
			return fmt.Errorf("set %s: %w", name, result.Err)
		}

		return nil
	}
}

// setByStatements takes the settings out of what config sends with a connection. Any pooler knows application_name.
func setByStatements(config *pgx.ConnConfig) {
	settings := config.RuntimeParams
	config.RuntimeParams = map[string]string{"application_name": settings["application_name"]}
	config.AfterConnect = func(context.Context, *pgconn.PgConn) error { return nil }
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		Set(config, name, settings[name])
	}
}
