package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"
)

// OperationDecl exposes one of the owner's functions as a tool.
type OperationDecl struct {
	Name        string            `yaml:"name"`
	Function    string            `yaml:"function"` // with its schema, else in the source's or the domain's
	On          string            `yaml:"on"`       // type of the row whose key is the first parameter
	Confirm     Confirm           `yaml:"confirm"`
	Preview     string            `yaml:"preview"`   // a function with the same parameters that returns sentences
	Changes     []string          `yaml:"changes"`   // further types whose rows it may change
	Arguments   map[string]string `yaml:"arguments"` // parameter -> type of the row whose key it is
	Inverse     string            `yaml:"inverse"`   // the operation with the same parameters that undoes this one
	Description string            `yaml:"description"`
	Trusted     bool              `yaml:"trusted"` // it runs with its owner's privileges
}

// Confirm says when the user has to agree: always, unless the declaration says never or gives a condition.
type Confirm struct {
	Never bool
	When  string // SQL over the row's columns
}

// UnmarshalYAML reads always, never, or when: <expression>.
func (c *Confirm) UnmarshalYAML(source []byte) error {
	var when struct {
		When string `yaml:"when"`
	}
	switch word := strings.TrimSpace(string(source)); {
	case word == "always":
		return nil
	case word == "never":
		c.Never = true

		return nil
	case strings.HasPrefix(word, "when ") && !strings.Contains(word, ":"):
		c.When = strings.TrimPrefix(word, "when ")

		return nil
	}
	if err := yaml.UnmarshalWithOptions(source, &when, yaml.Strict()); err != nil || when.When == "" {
		return errors.New("confirm is always, never, or when: and an expression")
	}
	c.When = when.When

	return nil
}

// Operation is a function of the domain's owner that models and people may call.
type Operation struct {
	Name        string
	Description string
	On          *Entity
	// This is the parameter for the key of the target row.
	This string
	// Args are its parameters as columns of a type without a table; parameters that are row keys reference their types.
	Args *Entity
	// Call and Preview are functions as SQL; Preview is "" for none.
	Call, Preview string
	// Confirm says when the user has to agree.
	Confirm Confirm
	// Inverse undoes it, called with the same arguments; nil for none.
	Inverse *Operation
	// Changes are the types whose rows it may change, On first.
	Changes []*Entity
}

// Operation returns the operation of that name, or nil.
func (d *Domain) Operation(name string) *Operation {
	return find(d.Operations, func(o *Operation) bool { return o.Name == name })
}

// OperationsOn returns the operations on rows of a type.
func (d *Domain) OperationsOn(e *Entity) []*Operation {
	return slices.DeleteFunc(slices.Clone(d.Operations), func(o *Operation) bool { return o.On != e })
}

// wrapper is the name of the function by which a domain of views calls one of the owner's.
func wrapper(name string) string { return "do_" + name }

func previewWrapper(name string) string { return "preview_" + name }

// place splits a function's name into schema and name.
func (d *Declaration) place(function string) (schema, name string) {
	if schema, name, found := strings.Cut(function, "."); found {
		return schema, name
	}
	if d.Source.Schema != "" {
		return d.Source.Schema, function
	}

	return d.Schema, function
}

// bindOperations binds operations to their functions.
func (b *binder) bindOperations(ctx context.Context, tx pgx.Tx) error {
	seen := map[string]bool{}
	for i := range b.decl.Operations {
		decl, at := &b.decl.Operations[i], fmt.Sprintf("$.operations[%d]", i)
		if !isName(decl.Name) || seen[decl.Name] || slices.Contains(takenNames, decl.Name) {
			b.problemf(at+".name", "operation %q: its name is no lower-case name of its own", decl.Name)

			continue
		}
		seen[decl.Name] = true
		if err := b.bindOperation(ctx, tx, at, decl); err != nil {
			return err
		}
	}
	for i := range b.decl.Operations {
		b.bindInverse(fmt.Sprintf("$.operations[%d].inverse", i), &b.decl.Operations[i])
	}

	return nil
}

// bindInverse binds an operation to the one that undoes it, whose arguments must be a subset of the first's.
func (b *binder) bindInverse(at string, decl *OperationDecl) {
	o, inverse := b.domain.Operation(decl.Name), b.domain.Operation(decl.Inverse)
	if decl.Inverse == "" || o == nil {
		return
	}
	if inverse == nil || inverse.On != o.On {
		b.problemf(at, "operation %s: there is no operation %q on %s that could take it back", decl.Name, decl.Inverse, o.On.Type)

		return
	}
	for _, c := range inverse.Args.Columns {
		if own := o.Args.Column(c.Name); own == nil && !c.HasDefault && c.Name != inverse.This || own != nil && own.Type != c.Type {
			b.problemf(at, "operation %s: %s, which is to take it back, needs %s (%s), which %s does not take", decl.Name, decl.Inverse, c.Name, c.Type, decl.Name)

			return
		}
	}
	o.Inverse = inverse
}

// takenNames are the names of built-in tools.
var takenNames = strings.Fields("db_read db_create db_update db_delete db_analyze calculate recall generate step_complete ask_user blocked request_schema undo mention ui_change")

func (b *binder) bindOperation(ctx context.Context, tx pgx.Tx, at string, decl *OperationDecl) error {
	on := b.byType(decl.On)
	if on == nil {
		b.problemf(at+".on", "operation %s: there is no entity type %q", decl.Name, decl.On)

		return nil
	}
	f, err := b.function(ctx, tx, at+".function", decl.Name, decl.Function)
	if f == nil {
		return err
	}
	o := &Operation{Name: decl.Name, Description: cmp.Or(decl.Description, f.comment), On: on, Confirm: decl.Confirm, Changes: []*Entity{on}}
	through, err := b.throughViews(ctx, tx, decl, f)
	if err != nil {
		return err
	}
	b.bindParameters(at, decl, o, through)
	for _, name := range decl.Changes {
		if e := b.byType(name); e == nil {
			b.problemf(at+".changes", "operation %s: there is no entity type %q", decl.Name, name)
		} else if e != on {
			o.Changes = append(o.Changes, e)
		}
	}
	if o.Call, err = b.callable(ctx, tx, at, decl, f, decl.Function, wrapper(decl.Name)); err != nil {
		return err
	}
	if decl.Preview != "" {
		preview, err := b.function(ctx, tx, at+".preview", decl.Name, decl.Preview)
		if preview == nil {
			return err
		}
		if o.Preview, err = b.callable(ctx, tx, at, decl, preview, decl.Preview, previewWrapper(decl.Name)); err != nil {
			return err
		}
	}
	if decl.Confirm.When != "" {
		if err := b.checkQuery(ctx, tx, at+".confirm", fmt.Sprintf("SELECT (%s)::text FROM %s", decl.Confirm.When, quote(b.decl.Schema, on.Table)), 1); err != nil {
			return err
		}
	}
	b.domain.Operations = append(b.domain.Operations, o)

	return nil
}

// function finds the one function with a name.
func (b *binder) function(ctx context.Context, tx pgx.Tx, at, operation, named string) (*catalogFunction, error) {
	schema, name := b.decl.place(named)
	found, err := functions(ctx, tx, schema, name)
	if err != nil {
		return nil, err
	}
	switch {
	case len(found) == 0:
		b.problemf(at, "operation %s: function %s.%s does not exist", operation, schema, name)
	case len(found) > 1:
		b.problemf(at, "operation %s: there are %d functions %s.%s; give the one that is meant a name of its own", operation, len(found), schema, name)
	case found[0].kind != "f":
		b.problemf(at, "operation %s: %s.%s is no plain function", operation, schema, name)
	default:
		return found[0], nil
	}

	return nil, nil
}

// throughViews is the function whose parameters count: the wrapper in the views' schema, if there is one, since it
// takes a composite key as one value.
func (b *binder) throughViews(ctx context.Context, tx pgx.Tx, decl *OperationDecl, f *catalogFunction) (*catalogFunction, error) {
	if b.decl.Source.Schema == "" || !decl.Trusted {
		return f, nil
	}
	made, err := functions(ctx, tx, b.decl.Schema, wrapper(decl.Name))
	if err != nil || len(made) != 1 {
		return f, err
	}

	return made[0], nil
}

// callable is what alfred_tenant calls: the function itself, or the wrapper in the views' schema that calls it with its
// owner's privileges.
func (b *binder) callable(ctx context.Context, tx pgx.Tx, at string, decl *OperationDecl, f *catalogFunction, named, through string) (string, error) {
	schema, name := b.decl.place(named)
	if b.decl.Source.Schema == "" || f.callable && !decl.Trusted {
		if !f.callable {
			b.problemf(at, "operation %s: alfred_tenant may not call %s.%s: GRANT EXECUTE, and USAGE ON SCHEMA", decl.Name, schema, name)
		} else if f.definer && !decl.Trusted {
			b.problemf(at, "operation %s: %s.%s is SECURITY DEFINER: it runs with its owner's rights, which trusted: true allows", decl.Name, schema, name)
		}

		return quote(schema, name), nil
	}
	if !decl.Trusted {
		b.problemf(at, "operation %s: alfred_tenant may not call %s.%s; with trusted: true it runs with the rights of its owner", decl.Name, schema, name)

		return "", nil
	}
	made, err := functions(ctx, tx, b.decl.Schema, through)
	if err != nil {
		return "", err
	}
	if len(made) != 1 || !made[0].callable {
		b.problemf(at, "operation %s: %s.%s does not exist: run worker domain attach", decl.Name, b.decl.Schema, through)
	}

	return quote(b.decl.Schema, through), nil
}

// bindParameters turns parameters into columns.
func (b *binder) bindParameters(at string, decl *OperationDecl, o *Operation, f *catalogFunction) {
	o.Args = &Entity{Type: decl.Name, Table: decl.Name, Name: decl.Name, Key: &Column{Name: "\x00"}}
	if len(f.names) != len(f.types) || slices.Contains(f.names, "") {
		b.problemf(at+".function", "operation %s: every parameter of the function needs a name", decl.Name)

		return
	}
	for i, name := range f.names {
		c := &Column{Name: name, Type: f.types[i], FullType: f.types[i], Nullable: true, Writable: true, HasDefault: i >= len(f.names)-f.defaults}
		if f.enums[i] != "" {
			c.Enum = strings.Split(f.enums[i], "\x01")
		}
		if c.Kind, c.Elem = kindOf(f.bases[i], f.elems[i], len(c.Enum) > 0); c.Kind == KindVector {
			b.problemf(at+".function", "operation %s: no model can give %s, which is %s; take its parts as parameters", decl.Name, name, f.types[i])
		}
		c.FK = b.keyOf(at, decl, i, c)
		o.Args.Columns = append(o.Args.Columns, c)
	}
	if len(f.names) == 0 || o.Args.Columns[0].FK == nil {
		b.problemf(at+".function", "operation %s: its first parameter has to be the key of a row of %s", decl.Name, o.On.Type)

		return
	}
	o.This = f.names[0]
}

// keyType is the type whose key a parameter is: for the first, the operation's target; for others, as declared or as
// their name says.
func (o *OperationDecl) keyType(i int, parameter string) string {
	switch declared := o.Arguments[parameter]; {
	case i == 0:
		return o.On
	case declared != "":
		return declared
	default:
		return strings.TrimSuffix(parameter, "_id")
	}
}

// keyOf returns the type whose key a parameter is, nil if none.
func (b *binder) keyOf(at string, decl *OperationDecl, i int, c *Column) *ForeignKey {
	if named, declared := decl.Arguments[c.Name]; declared && b.byType(named) == nil {
		b.problemf(at+".arguments", "operation %s: there is no entity type %q", decl.Name, named)

		return nil
	}
	target := b.byType(decl.keyType(i, c.Name))
	if target == nil || target.Key == nil {
		return nil
	}
	if plain := strings.TrimSuffix(c.Type, "[]"); plain != target.Key.Type {
		if i == 0 || decl.Arguments[c.Name] != "" {
			b.problemf(at+".arguments", "operation %s: %s is %s, the key of %s is %s", decl.Name, c.Name, c.Type, target.Type, target.Key.Type)
		}

		return nil
	}

	return &ForeignKey{Entity: target, Table: target.Table, Column: target.Key.Name}
}
