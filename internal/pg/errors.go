package pg

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrEncoding says that the database cannot hold every character.
	ErrEncoding = errors.New("the database must be encoded in UTF8: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0")

	// ErrNoAnswer says that the database of the given address cannot be reached or refuses the login.
	ErrNoAnswer = errors.New("the database does not answer: start it or correct DATABASE_URL")

	// ErrSchemaAhead says that the database has migrations unknown to this program: the program is older than the
	// schema.
	ErrSchemaAhead = errors.New("the database schema is newer than this program: run a newer version of it")

	// ErrSchemaAltered says that a migration was edited after this database had applied it.
	ErrSchemaAltered = errors.New("the database was made by other texts of this program's migrations, and cannot be brought on: " +
		"rebuild it (`worker migrate down --all`, then `worker migrate up`; all of Alfred's data in it is lost), or run the program that made it")

	// ErrSchemaBehind says that migrations are pending.
	ErrSchemaBehind = errors.New("the database schema is behind this program: run `worker migrate up`")

	// ErrServerTooOld says that the server is older than Postgres 15.
	ErrServerTooOld = errors.New("the server is too old: Alfred needs Postgres 15 or newer")

	// ErrVectorMissing says that the server has no pgvector, or that this role may not create the extension.
	ErrVectorMissing = errors.New("pgvector is missing: install its package on the server and, as a superuser, " +
		"run `CREATE EXTENSION vector WITH SCHEMA public` in this database")

	// ErrVectorTooOld says that the extension is older than 0.8, which lacks iterative scans.
	ErrVectorTooOld = errors.New("pgvector is too old: Alfred needs 0.8 or newer (`ALTER EXTENSION vector UPDATE`)")
)

// raised is the Postgres error in err's chain, an empty one if there is none.
func raised(err error) *pgconn.PgError {
	if found, ok := errors.AsType[*pgconn.PgError](err); ok {
		return found
	}

	return &pgconn.PgError{}
}

// Code returns the SQLSTATE of the Postgres error in err's chain, "" if there is none.
func Code(err error) string { return raised(err).Code }

// Violates reports whether err is a violation of the named constraint.
func Violates(err error, constraint string) bool { return raised(err).ConstraintName == constraint }

// codeElsewhere is the SQLSTATE of what is written for a user whom another database serves.
const codeElsewhere = "AL010"

// IsElsewhere reports whether err is the refusal of a database that does not serve the user, or will soon not: the
// sender has to look for the user's place again.
func IsElsewhere(err error) bool { return Code(err) == codeElsewhere }

// Hint is what an operator can do about an error whose text does not say so, "" for any other.
func Hint(err error) string {
	switch code := Code(err); {
	case code == pgerrcode.UndefinedFile && strings.Contains(raised(err).Message, "could not load library"):
		return "the server's files were replaced while it ran, as by an upgrade of its package: restart Postgres"
	case code == pgerrcode.AmbiguousFunction:
		return "schema public has a function of the same name as one of Alfred's: rename it, or move it to another schema"
	}

	return ""
}

// IsSchemaChange reports whether a statement that was valid when prepared may have failed because a table has changed:
// a column or table is gone, has another type, or is no longer accessible.
func IsSchemaChange(err error) bool {
	switch Code(err) {
	case pgerrcode.UndefinedColumn, pgerrcode.UndefinedTable, pgerrcode.UndefinedObject, pgerrcode.UndefinedFunction, pgerrcode.InvalidSchemaName,
		pgerrcode.DatatypeMismatch, pgerrcode.CannotCoerce, pgerrcode.FeatureNotSupported:
		return true
	case pgerrcode.InsufficientPrivilege:
		return raised(err).Routine == "aclcheck_error" // not a policy violation, which concerns a row
	}

	return false
}

// IsTransient reports whether the same statement may succeed later: the server is down, starting or does not let us in,
// lacks a resource, is read-only for now (a standby before its promotion), timed out, or aborted us to resolve a conflict.
func IsTransient(err error) bool {
	if _, isConnect := errors.AsType[*pgconn.ConnectError](err); isConnect {
		return true
	}
	if code := Code(err); code != "" {
		return code == pgerrcode.SerializationFailure || code == pgerrcode.DeadlockDetected || code == pgerrcode.LockNotAvailable ||
			code == pgerrcode.IdleInTransactionSessionTimeout || code == pgerrcode.ReadOnlySQLTransaction || pgerrcode.IsConnectionException(code) ||
			pgerrcode.IsInsufficientResources(code) || pgerrcode.IsOperatorIntervention(code) || pgerrcode.IsSystemError(code)
	}
	if _, isNet := errors.AsType[net.Error](err); isNet {
		return true
	}

	return pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		err != nil && strings.Contains(err.Error(), "conn closed") // pgconn exports no such error
}
