package domain

import "cmp"

func (b *typeBinder) bindOwner() {
	if b.Reference {
		return
	}
	if b.table.View {
		b.Viewed = true
		b.bindViewOwner()

		return
	}
	field, name := "owner", b.own.Owner
	if name == "" {
		field, name = "table", b.decl.Owner
	}
	owner := b.Column(name)
	switch {
	case name == "":
		b.problemf(field, "no owner column; a table that all users share is declared reference: true")
	case owner == nil:
		b.problemf(field, "owner column %s does not exist in %s; a table that all users share is declared reference: true", name, b.Table)
	case !keyKind(owner):
		b.problemf(field, "owner column %s is %s; an owner is uuid, an integer or text", name, owner.Type)
	case owner.Nullable:
		b.problemf(field, "owner column %s may be null", name)
	case b.own.may(Create) && !owner.HasDefault:
		b.problemf(field, "owner column %s has no default; give it one from current_setting('alfred.user_id', true), since inserts never name it", name)
	}
	b.Owner = owner
	b.Singleton = owner != nil && b.table.unique(name)
}

// bindViewOwner finds the view's owner column, if it has one. The view itself separates users and fills it.
func (b *typeBinder) bindViewOwner() {
	name := cmp.Or(b.own.Owner, b.decl.Owner)
	owner := b.Column(name)
	if owner == nil || owner == b.Key {
		return
	}
	b.Owner = owner
	b.Singleton = b.table.unique(name)
}
