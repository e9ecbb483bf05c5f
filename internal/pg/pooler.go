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

// refusesSettings reports whether a pooler in front of the server rejects settings sent with a connection, as pgbouncer
// does unless told to ignore them.
func refusesSettings(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)

	return ok && pgErr.Code == pgerrcode.ProtocolViolation && strings.Contains(pgErr.Message, "unsupported startup parameter")
}

// Set gives config's connections a setting: at connection time or, if a pooler rejects that, in a first statement.
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

// setByStatements removes the settings from what config sends when connecting. Any pooler accepts application_name.
func setByStatements(config *pgx.ConnConfig) {
	settings := config.RuntimeParams
	config.RuntimeParams = map[string]string{"application_name": settings["application_name"]}
	config.AfterConnect = func(context.Context, *pgconn.PgConn) error { return nil }
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		Set(config, name, settings[name])
	}
}
