package vocab

// A ref as a regular expression: a type's name and a number. The gen_ in front of a draft's counts as part of the name.
const (
	RefStem = `[a-z][a-z0-9_]*`
	Ref     = RefStem + `_\d+`
)
