package crud

import (
	"context"
	"maps"
	"reflect"

	"github.com/jackc/pgx/v5"
)

// hasAgreed reports whether the answer to a question covers a call that the user would have to be asked about: it makes
// the change that the question named, to fewer of its rows, which are as they were then. All of them need a plain yes: an
// answer in other words that changes nothing may have been misunderstood.
func (d *decision) hasAgreed(ctx context.Context, tx pgx.Tx, s *step) (bool, error) {
	versions, agreed := map[string]string{}, map[string]bool{}
	for _, one := range d.bounds.Agreed {
		if !d.sameChange(s, one) {
			continue
		}
		maps.Copy(versions, one.Versions)
		for _, key := range one.Keys {
			agreed[key] = true
		}
	}
	keys := s.found.keys()
	count := len(keys)
	for _, one := range d.steps {
		if one.agreed && one.entity == s.entity {
			count += len(one.found.Rows)
		}
	}
	for _, key := range keys {
		if !agreed[key] {
			return false, nil
		}
	}
	changed, err := d.changedSince(ctx, tx, versions, s.found.Versions[s.entity.Type])

	return count < len(agreed) && len(changed) == 0, err
}

// sameChange reports whether a call does to its rows what one that the user has agreed to would have done.
func (d *decision) sameChange(s *step, agreed ApprovedCall) bool {
	if agreed.Tool != s.call.Tool || agreed.EntityType != s.entity.Type {
		return false
	}
	now, updates := s.op.(*updateOp)
	if !updates {
		return true
	}
	op, fault := d.newUpdate(&step{call: agreed.Call})
	then, _ := op.(*updateOp)

	return fault == nil && reflect.DeepEqual(now.args.Data, then.args.Data)
}
