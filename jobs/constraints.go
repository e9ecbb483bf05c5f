package jobs

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"alfred/registry"
)

// constrain stores the user's constraints. It returns the one whose end also ends this message's exclusions: the only
// one of kind exclude.
func (u *understand) constrain(ctx context.Context, reg *registry.Registry) (*uuid.UUID, error) {
	if len(u.out.Constraints) == 0 {
		return nil, nil
	}
	inForce, err := reg.Constraints(ctx)
	if err != nil {
		return nil, err
	}
	var exclusions []uuid.UUID
	for _, x := range u.out.Constraints {
		id, err := reg.AddConstraint(ctx, registry.Constraint{
			Text: x.Text, Kind: x.Kind, Value: x.Value, Scope: x.Scope, ExpiresAt: expiry(x, u.s.Before),
		}, replaced(inForce, x.Replaces))
		if err != nil {
			return nil, err
		}
		if x.Kind == "exclude" {
			exclusions = append(exclusions, id)
		}
	}
	if len(exclusions) != 1 {
		return nil, nil
	}

	return &exclusions[0], nil
}

// replaced finds the constraint that a new one refers to by its text.
func replaced(inForce []registry.Constraint, text string) *uuid.UUID {
	if text == "" {
		return nil
	}
	for i := range inForce {
		if strings.EqualFold(strings.TrimSpace(inForce[i].Text), strings.TrimSpace(text)) {
			return &inForce[i].ID
		}
	}

	return nil
}
