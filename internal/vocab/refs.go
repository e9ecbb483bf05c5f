package vocab

// A ref as a regular expression: a type's name and a number. The gen_ in front of a draft's counts as part of the name.
const (
	RefStem = `[a-z][a-z0-9_]*`
	Ref     = RefStem + `_\d+`
)

// Mention matches a mention in a message, as the page writes it: its label, type and key. A key that is text may have any
// character in it.
const Mention = `@\[([^\]\n]*)\]\(([A-Za-z][A-Za-z0-9_]*):([^)\s]+)\)`
