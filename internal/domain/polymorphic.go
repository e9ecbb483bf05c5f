package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A row may be about one of any type: commentable_type says which table commentable_id is a key of. Views show such a pair as a
// reference to each declared type, of which at most one is set, and turn the one that is written back into the pair.

// PolymorphicDecl says which rows a column holds keys of.
type PolymorphicDecl struct {
	By    string            `yaml:"by"`    // the column that says the type of each row's
	Types map[string]string `yaml:"types"` // its value -> type
}

// Pair is what a view makes a reference of: another column holds the key, and one more says by a word that it is one of the type's.
type Pair struct {
	Key, By *Column
	Word    string
}

// names are the view's columns for such a pair, with the types that they lead to.
func (p PolymorphicDecl) names(column string) map[string]string {
	found := map[string]string{}
	for _, to := range p.Types {
		found[polymorphicName(column, to)] = to
	}

	return found
}

// polymorphicName is the view's column for the rows of a type that a column names: commentable_id names a commentable_post.
func polymorphicName(column, to string) string {
	name, _ := keyOf(column)

	return strings.TrimPrefix(name+"_"+to, "_")
}

// references are the columns that lead to rows of a type, where no foreign key says so.
func (e *EntityDecl) references() map[string]string {
	all := map[string]string{}
	for column, p := range e.Polymorphic {
		maps.Copy(all, p.names(column))
	}
	maps.Copy(all, e.References)

	return all
}

// polymorphicKeys are the references that a view makes of such pairs, always in one order.
func (s *source) polymorphicKeys(t *catalogTable) (found []foldedFK) {
	e := s.entities[t.Name]
	if e == nil {
		return nil
	}
	for _, column := range sortedKeys(e.Polymorphic) {
		p := e.Polymorphic[column]
		for _, word := range sortedKeys(p.Types) {
			if target := s.tableOf(p.Types[word]); target != nil && target.plainKey() {
				fk := catalogFK{Columns: []string{column}, Table: target.Name, Targets: s.viewKey(target)}
				one := foldedFK{catalogFK: fk, Name: polymorphicName(column, p.Types[word]), By: p.By, Word: word}
				if c, key := t.column(column), target.column(target.primary[0]); c != nil && c.Kind != key.Kind {
					one.text = keyTexts[key.Kind]
				}
				found = append(found, one)
			}
		}
	}

	return found
}

// keyText is how a key looks as a text, and the type that it is then.
type keyText struct{ form, as string }

// keyTexts are those of keys that other tables may hold as texts: a number in one way, a uuid in small letters or in capitals.
var keyTexts = map[Kind]keyText{
	KindNumber: {`^(0|-?[1-9][0-9]{0,17})$`, "bigint"},
	KindUUID:   {`^(?=[0-9a-f-]+$|[0-9A-F-]+$)[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`, "uuid"},
}

// mayPair reports whether a column may hold keys of a table's rows beside the word for their type.
func (c *Column) mayPair(to *catalogTable) bool {
	if !to.plainKey() {
		return false
	}
	kind := to.column(to.primary[0]).Kind

	return c.Kind == kind || c.Kind == KindText && keyTexts[kind].as != ""
}

// held is the key that a row holds; null where a text is none.
func (fk *foldedFK) held(alias string) string {
	value := tuple(alias, fk.Columns)
	if fk.text.as == "" {
		return value
	}

	return fmt.Sprintf("CASE WHEN %[1]s::text ~ %[2]s THEN %[1]s::text::%[3]s END", value, literalSQL(fk.text.form), fk.text.as)
}

// owningPairs are those of a table by which alone its rows are somebody's: an address is that of whom the account or contact is.
func (s *source) owningPairs(t *catalogTable) []foldedFK {
	if s.belongs(t) {
		return nil
	}

	return slices.DeleteFunc(s.polymorphicKeys(t), func(fk foldedFK) bool { return !s.belongs(s.cat.table(fk.Table)) })
}

// isAboutOwn is the SQL condition that a pair names a row of the user's.
func (s *source) isAboutOwn(pairs []foldedFK, alias string, depth int) string {
	above := fmt.Sprintf("p%d", depth)
	ways := each(pairs, func(fk foldedFK) string {
		target := s.cat.table(fk.Table)
		among := s.among(fk.held(alias), target, above, fk.Targets, s.ownedSQL(target, above, depth+1))

		return fmt.Sprintf("%s.%s = %s AND %s", alias, quote(fk.By), literalSQL(fk.Word), among)
	})

	return "(" + strings.Join(ways, " OR ") + ")"
}

// checkPolymorphic refuses pairs that no view can take apart.
func (v *viewedType) checkPolymorphic() {
	refuse := func(format string, args ...any) {
		v.refusef(v.Table.Name, "polymorphic", "polymorphic: "+format, args...)
	}
	for _, column := range sortedKeys(v.Decl.Polymorphic) {
		p := v.Decl.Polymorphic[column]
		id, kind, named := v.Table.column(column), v.Table.column(p.By), map[string]bool{}
		if id == nil || kind == nil {
			refuse("%s has no columns %s and %s", v.Table.Name, column, p.By)

			continue
		}
		for _, word := range sortedKeys(p.Types) {
			to := p.Types[word]
			switch target := v.tableOf(to); {
			case target == nil:
				refuse("there is no entity type %s", to)
			case !id.mayPair(target):
				refuse("%s is %s, which is not what keys of %s are", column, id.Type, to)
			case named[to]:
				refuse("%s has two words for %s, and a new row only one", p.By, to)
			case v.Table.column(polymorphicName(column, to)) != nil:
				refuse("%s has a column %s of its own", v.Table.Name, polymorphicName(column, to))
			}
			named[to] = true
		}
	}
}

// alternatives are the view's columns of which a row sets one at most.
type alternatives struct {
	Names []string
	Key   string // the column that each of them stands for
	Must  bool   // a new row has to set one
}

// OneOf are those that a writer may set.
func (v *viewedType) OneOf() (found []alternatives) {
	for _, column := range sortedKeys(v.Decl.Polymorphic) {
		a := alternatives{Key: column, Must: v.Table.column(column).Required()}
		for _, fk := range v.polymorphicKeys(v.Table) {
			if fk.holds(column) && slices.Contains(v.settable(), fk.Name) {
				a.Names = append(a.Names, fk.Name)
			}
		}
		if len(a.Names) > 0 {
			found = append(found, a)
		}
	}

	return found
}

// bindPolymorphic says of the references what holds for a pair, and marks the pair if a view's trigger fills it.
func (b *typeBinder) bindPolymorphic() {
	if len(b.own.Polymorphic) > 0 && !b.table.View {
		b.problemf("polymorphic", "polymorphic: only views show such a pair as references; name the source")
	}
	for _, column := range sortedKeys(b.own.Polymorphic) {
		p := b.own.Polymorphic[column]
		for word, to := range p.Types {
			if c := b.Column(polymorphicName(column, to)); c != nil {
				c.Pair = &Pair{Key: b.Column(column), By: b.Column(p.By), Word: word}
			}
		}
		names := p.names(column)
		keys := slices.DeleteFunc(slices.Clone(b.Columns), func(c *Column) bool { return !c.Writable || names[c.Name] == "" })
		for i, c := range keys {
			if c.Instead = slices.Delete(slices.Clone(keys), i, i+1); i == 0 { // it is read before the others
				c.Comment = "A row has one of " + strings.Join(each(keys, func(c *Column) string { return c.Name }), ", ") + "."
			}
		}
		for _, c := range []*Column{b.Column(column), b.Column(p.By)} {
			if c != nil {
				c.Unfolded, c.Repeats = c.Unfolded || len(keys) > 0, true
			}
		}
	}
}
