package domain

import (
	"fmt"
	"slices"
)

// checkWords finds words that two entities claim as their own name: a lookup would silently take the first.
func (b *binder) checkWords() {
	own := map[string]*Entity{}
	for _, e := range b.domain.Entities {
		claim(own, e.Type, e)
		claim(own, e.Table, e)
	}
	for _, t := range b.types {
		for n, alias := range t.own.Aliases {
			if holder := claim(own, alias, t.Entity); holder != t.Entity {
				t.problemf(fmt.Sprintf("aliases[%d]", n), "alias %q stands for %s already", alias, holder.Type)
			}
		}
	}
}

func (b *binder) bindSubdomains() {
	seen := map[string]string{}
	for i := range b.decl.Subdomains {
		b.bindSubdomain(fmt.Sprintf("$.subdomains[%d]", i), &b.decl.Subdomains[i], seen)
	}
}

// bindSubdomain binds one. seen are the words of those before it.
func (b *binder) bindSubdomain(at string, decl *Subdomain, seen map[string]string) {
	b.domain.Subdomains = append(b.domain.Subdomains, decl)
	if decl.Name == "" {
		b.problemf(at, "a subdomain has no name")
	}
	for _, word := range append([]string{decl.Name}, decl.Aliases...) {
		if holder := claim(seen, word, decl.Name); holder != decl.Name {
			b.problemf(at, "subdomain %s: %q stands for %s already", decl.Name, word, holder)
		}
	}
	if len(decl.Tables) == 0 {
		b.problemf(at, "subdomain %s has no tables", decl.Name)
	}
	for _, table := range slices.Concat(decl.Tables, decl.Readable) {
		if b.domain.ByTable(table) == nil {
			b.problemf(at+".tables", "subdomain %s: no entity type has the table %s", decl.Name, table)
		}
	}
}

// checkOffline checks the offline vocabulary against the tables it writes: otherwise only the rule-based model would
// find a mistake, at run time.
func (b *binder) checkOffline() {
	o := b.decl.Offline
	if o == nil {
		return
	}
	for i, v := range o.Values {
		b.offlineColumns(fmt.Sprintf("$.offline.values[%d]", i), v.Type, nonEmpty(v.Column)...)
	}
	for i, f := range o.Facts {
		b.offlineColumns(fmt.Sprintf("$.offline.facts[%d]", i), f.Type, f.Column)
	}
	for _, name := range sortedKeys(o.Defaults) {
		b.offlineColumns("$.offline.defaults."+name, name, sortedKeys(o.Defaults[name])...)
	}
	if p := o.Plan; p != nil {
		b.offlineColumns("$.offline.plan", p.Type, append(sortedKeys(p.Content), p.Date, p.Slot, p.Link)...)
	}
	if o.Draft != nil {
		b.checkDraft(o.Draft)
	}
}

func (b *binder) checkDraft(d *OfflineDraft) {
	at := "$.offline.draft"
	b.offlineColumns(at, d.Type, nonEmpty(d.Title, d.Steps, d.Serves)...)
	child := b.domain.ByTable(d.Child)
	if child == nil {
		b.problemf(at+".child", "offline: no entity type has the table %s", d.Child)

		return
	}
	b.offlineColumns(at, child.Type, d.Item)
	for i, t := range d.Templates {
		b.checkTemplate(fmt.Sprintf("%s.templates[%d]", at, i), d, child, t.Content)
	}
	for i, c := range d.Changes {
		b.offlineColumns(fmt.Sprintf("%s.changes[%d]", at, i), d.Type, sortedKeys(c.Set)...)
	}
}

func (b *binder) checkTemplate(at string, d *OfflineDraft, child *Entity, content map[string]any) {
	columns := slices.DeleteFunc(sortedKeys(content), func(key string) bool { return key == d.Child })
	b.offlineColumns(at, d.Type, columns...)
	rows, _ := content[d.Child].([]any)
	for _, row := range rows {
		if fields, ok := row.(map[string]any); ok {
			b.offlineColumns(at, child.Type, sortedKeys(fields)...)
		}
	}
}

func (b *binder) offlineColumns(at, typ string, columns ...string) {
	e := b.domain.ByType(typ)
	if e == nil {
		b.problemf(at, "offline: there is no entity type %s", typ)

		return
	}
	for _, name := range columns {
		switch c := e.Column(name); {
		case c == nil:
			b.problemf(at, "offline: column %s does not exist in %s", name, e.Table)
		case c.Hidden || c.Generated:
			b.problemf(at, "offline: column %s of %s is not written by models", name, e.Table)
		}
	}
}
