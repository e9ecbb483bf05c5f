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
	switch strings.TrimSpace(string(source)) {
	case "always":
		return nil
	case "never":
		c.Never = true

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

// wrapperName is the name of the function by which a domain of views calls one of the owner's.
func wrapperName(name string) string { return "do_" + name }

func previewWrapperName(name string) string { return "preview_" + name }

// splitFunction splits a function's name into name and schema, or those in which it may be.
func (d *Declaration) splitFunction(function string) (schemas Schemas, name string) {
	if schema, name, found := strings.Cut(function, "."); found {
		return Schemas{schema}, name
	}
	if d.Source.Schema != nil {
		return d.Source.Schema, function
	}

	return Schemas{d.Schema}, function
}

// operationBinder binds one operation.
type operationBinder struct {
	*binder

	own *OperationDecl
	at  string
	o   *Operation
}

// problemf reports a problem of the operation at one of its fields, such as ".on".
func (b *operationBinder) problemf(field, format string, args ...any) {
	b.binder.problemf(b.at+field, "operation %s: %s", b.own.Name, fmt.Sprintf(format, args...))
}

// bindOperations binds operations to their functions.
func (b *binder) bindOperations() {
	seen := map[string]*operationBinder{}
	for i := range b.decl.Operations {
		one := &operationBinder{binder: b, own: &b.decl.Operations[i], at: fmt.Sprintf("$.operations[%d]", i)}
		if name := one.own.Name; !isName(name) || seen[name] != nil || slices.Contains(takenNames, name) {
			b.problemf(one.at+".name", "operation %q: its name is no lower-case name of its own", name)

			continue
		}
		seen[one.own.Name] = one
		one.bind()
	}
	for _, o := range b.domain.Operations {
		seen[o.Name].bindInverse()
	}
}

// bindInverse binds an operation to the one that undoes it, whose arguments must be a subset of the first's.
func (b *operationBinder) bindInverse() {
	if b.own.Inverse == "" {
		return
	}
	inverse := b.domain.Operation(b.own.Inverse)
	if inverse == nil || inverse.On != b.o.On {
		b.problemf(".inverse", "there is no operation %q on %s that could take it back", b.own.Inverse, b.o.On.Type)

		return
	}
	for _, c := range inverse.Args.Columns {
		if own := b.o.Args.Column(c.Name); own == nil && !c.HasDefault && c.Name != inverse.This || own != nil && own.Type != c.Type {
			b.problemf(".inverse", "%s, which is to take it back, needs %s (%s), which %s does not take", inverse.Name, c.Name, c.Type, b.own.Name)

			return
		}
	}
	b.o.Inverse = inverse
}

// takenNames are the names of built-in tools.
var takenNames = strings.Fields("db_read db_create db_update db_delete db_analyze calculate recall generate step_complete ask_user blocked request_schema undo mention ui_change")

func (b *operationBinder) bind() {
	on := b.domain.ByType(b.own.On)
	if on == nil {
		b.problemf(".on", "there is no entity type %q", b.own.On)

		return
	}
	call, f := b.bindFunction(".function", b.own.Function, wrapperName(b.own.Name))
	if f == nil {
		return
	}
	b.o = &Operation{Name: b.own.Name, Description: cmp.Or(b.own.Description, f.Comment), On: on, Call: call, Confirm: b.own.Confirm, Changes: []*Entity{on}}
	b.bindParameters(f)
	for _, name := range b.own.Changes {
		if e := b.domain.ByType(name); e == nil {
			b.problemf(".changes", "there is no entity type %q", name)
		} else if e != on {
			b.o.Changes = append(b.o.Changes, e)
		}
	}
	if b.own.Preview != "" {
		if b.o.Preview, f = b.bindFunction(".preview", b.own.Preview, previewWrapperName(b.own.Name)); f == nil {
			return
		}
	}
	if b.own.Confirm.When != "" {
		b.checkQuery(b.at+".confirm", fmt.Sprintf("SELECT (%s)::text FROM %s", b.own.Confirm.When, on.SQL()), 1)
	}
	b.domain.Operations = append(b.domain.Operations, b.o)
}

// bindFunction finds the one function with a name, and what alfred_tenant calls: the function itself, or the wrapper in the
// views' schema that calls it with its owner's privileges. Then the wrapper's parameters count, since it takes a composite
// key as one value.
func (b *operationBinder) bindFunction(field, named, through string) (call string, f *catalogFunction) {
	schemas, name := b.decl.splitFunction(named)
	found := b.functions(schemas, name)
	switch {
	case len(found) == 0:
		b.problemf(field, "function %s does not exist", schemas.before(name))
	case len(found) > 1:
		b.problemf(field, "there are %d functions %s; give the one that is meant a name of its own, or name its schema", len(found), schemas.before(name))
	case found[0].Kind != "f":
		b.problemf(field, "%s.%s is no plain function", found[0].Schema, name)
	default:
		f = found[0]
	}
	if f == nil {
		return "", nil
	}
	viewed := b.decl.Source.Schema != nil
	switch {
	case viewed && b.own.Trusted:
		return quote(b.decl.Schema, through), b.wrapperOf(f, through)
	case !f.Callable && viewed:
		b.problemf("", "alfred_tenant may not call %s.%s; with trusted: true it runs with the rights of its owner", f.Schema, name)
	case !f.Callable:
		b.problemf("", "alfred_tenant may not call %s.%s: GRANT EXECUTE, and USAGE ON SCHEMA", f.Schema, name)
	case f.Definer && !b.own.Trusted:
		b.problemf("", "%s.%s is SECURITY DEFINER: it runs with its owner's rights, which trusted: true allows", f.Schema, name)
	}

	return quote(f.Schema, name), f
}

// wrapperOf is the function as its wrapper offers it.
func (b *operationBinder) wrapperOf(f *catalogFunction, through string) *catalogFunction {
	made := b.functions(Schemas{b.decl.Schema}, through)
	if len(made) != 1 || !made[0].Callable {
		b.problemf("", "%s.%s does not exist: run worker domain attach", b.decl.Schema, through)
	}
	if len(made) != 1 {
		return f
	}
	made[0].Comment = f.Comment

	return made[0]
}

func (b *binder) functions(schemas Schemas, name string) (found []*catalogFunction) {
	b.ask("bind operations", func() (err error) {
		found, err = functions(b.ctx, b.tx, schemas, name)

		return err
	})

	return found
}

// bindParameters turns parameters into columns.
func (b *operationBinder) bindParameters(f *catalogFunction) {
	b.o.Args = &Entity{Type: b.own.Name, Table: b.own.Name, Name: b.own.Name, Key: &Column{Name: "\x00"}}
	if len(f.Names) != len(f.Types) || slices.Contains(f.Names, "") {
		b.problemf(".function", "every parameter of the function needs a name")

		return
	}
	for i, name := range f.Names {
		c := &Column{Name: name, Type: f.Types[i], FullType: f.Types[i], Nullable: true, Writable: true, HasDefault: i >= len(f.Names)-f.Defaults}
		if f.Enums[i] != "" {
			c.Enum = strings.Split(f.Enums[i], "\x01")
		}
		if c.Kind, c.Elem = kindOf(f.Bases[i], f.Elems[i], len(c.Enum) > 0); c.Kind == KindVector {
			b.problemf(".function", "no model can give %s, which is %s; take its parts as parameters", name, f.Types[i])
		}
		c.takeForm(f.Bases[i], f.Elems[i])
		c.FK = b.keyReference(i, c)
		b.o.Args.Columns = append(b.o.Args.Columns, c)
	}
	if len(f.Names) == 0 || b.o.Args.Columns[0].FK == nil {
		b.problemf(".function", "its first parameter has to be the key of a row of %s", b.o.On.Type)

		return
	}
	b.o.This = f.Names[0]
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

// keyReference returns the type whose key a parameter is, nil if none.
func (b *operationBinder) keyReference(i int, c *Column) *ForeignKey {
	named, declared := b.own.Arguments[c.Name]
	if declared && b.domain.ByType(named) == nil {
		b.problemf(".arguments", "there is no entity type %q", named)

		return nil
	}
	target := b.domain.ByType(b.own.keyType(i, c.Name))
	if target == nil || target.Key == nil {
		return nil
	}
	if plain := strings.TrimSuffix(c.Type, "[]"); plain != target.Key.Type {
		if i == 0 || declared {
			b.problemf(".arguments", "%s is %s, the key of %s is %s", c.Name, c.Type, target.Type, target.Key.Type)
		}

		return nil
	}

	return &ForeignKey{Entity: target, Table: target.Table, Column: target.Key.Name}
}

// catalogFunction is a function as the catalog has it.
type catalogFunction struct {
	Schema    string
	Comment   string
	Owner     string
	Definer   bool
	Callable  bool   // by alfred_tenant
	Kind      string // f is a plain function, p a procedure, which has no result
	Names     []string
	Types     []string
	Bases     []string
	Elems     []string
	Enums     []string // labels of an enumeration, joined by \x01
	Defaults  int
	Arguments string
	Result    string
}

// functions finds the functions of a name: none, one, or several.
func functions(ctx context.Context, tx pgx.Tx, schemas Schemas, name string) ([]*catalogFunction, error) {
	return collect(ctx, tx, pgx.RowToAddrOfStructByPos[catalogFunction], "read function "+name, functionsSQL, []string(schemas), name)
}
