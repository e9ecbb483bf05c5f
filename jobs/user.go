package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/pg"
)

// ErrTimezone says that a name is no time zone, or not as it is written.
var ErrTimezone = errors.New("this time zone is not known here; it is named as Europe/Berlin is")

// SetTimezone notes where a user is. Errors: [ErrTimezone].
func SetTimezone(ctx context.Context, conn db.DBTX, user uuid.UUID, name string) error {
	err := db.New().UserTimezoneSet(ctx, conn, &db.UserTimezoneSetParams{ID: user, Timezone: name})
	if pg.Violates(err, "users_timezone_known") {
		return ErrTimezone
	}
	if err != nil {
		return fmt.Errorf("set time zone: %w", err)
	}

	return nil
}
