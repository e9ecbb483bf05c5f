package domain

import "cmp"

func (b *binder) bindOwner(i int, e *Entity, table *catalogTable) {
	if e.Reference {
		return
	}
	if table.view {
		e.Viewed = true
		b.bindViewOwner(i, e, table)

		return
	}
	field, name := "owner", b.decl.Entities[i].Owner
	if name == "" {
		field, name = "table", b.decl.Owner
	}
	owner := e.Column(name)
	switch {
	case name == "":
		b.entityProblemf(i, field, "no owner column; a table that all users share is declared reference: true")
	case owner == nil:
		b.entityProblemf(i, field, "owner column %s does not exist in %s; a table that all users share is declared reference: true", name, e.Table)
	case !keyKind(owner):
		b.entityProblemf(i, field, "owner column %s is %s; an owner is uuid, an integer or text", name, owner.Type)
	case owner.Nullable:
		b.entityProblemf(i, field, "owner column %s may be null", name)
	case b.decl.Entities[i].may(Create) && !owner.HasDefault:
		b.entityProblemf(i, field, "owner column %s has no default; give it one from current_setting('alfred.user_id', true), since inserts never name it", name)
	}
	e.Owner = owner
	e.Singleton = owner != nil && table.unique(name)
}

// bindViewOwner finds the view's owner column, if it has one. The view itself separates users and fills it.
func (b *binder) bindViewOwner(i int, e *Entity, table *catalogTable) {
	name := cmp.Or(b.decl.Entities[i].Owner, b.decl.Owner)
	owner := e.Column(name)
	if owner == nil || owner == e.Key {
		return
	}
	e.Owner = owner
	e.Singleton = table.unique(name)
}
