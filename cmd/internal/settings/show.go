package settings

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Shown is one setting as an operator sees it.
type Shown struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // what the program uses, with secrets masked; "" is unset
	Default string `json:"default"`
	Set     bool   `json:"set"` // set in the environment
	Meaning string `json:"meaning"`
}

const mask = "(set, not shown)"

// Show lists what the program reads. It validates nothing: an invalid value is shown as is, and [Parse] says what is
// wrong with it.
func Show(e Env, by Program) []Shown {
	var shown []Shown
	for _, l := range new(Settings).lines(by) {
		if prefix, ok := strings.CutSuffix(l.name, nodeSuffix); ok {
			shown = append(shown, eachNode(e, &l, prefix)...)

			continue
		}
		value, err := valueOf(e, &l)
		set := e[l.name] != "" || l.secret && e[l.name+"_FILE"] != ""
		switch {
		case err != nil:
			value = "(" + err.Error() + ")"
		case l.secret:
			value = masked(value)
		default:
			value = WithoutPassword(value)
		}
		shown = append(shown, Shown{Name: l.name, Value: value, Default: l.fallback, Set: set, Meaning: l.meaning})
	}

	return shown
}

func eachNode(e Env, l *line, prefix string) []Shown {
	shown := []Shown{{Name: l.name, Default: l.fallback, Meaning: l.meaning}}
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if strings.HasPrefix(name, prefix) && e[name] != "" {
			shown = append(shown, Shown{Name: name, Value: e[name], Set: true, Meaning: l.meaning})
		}
	}

	return shown
}

const hidden = "xxxxx"

// keywordPassword matches a password in a keyword/value connection string, as libpq reads it: quoted, escaped, or with
// its quote left open.
var keywordPassword = regexp.MustCompile(`(?i)(password\s*=\s*)(?:'(?:[^'\\]|\\.)*(?:'|$)|(?:[^\s'\\]|\\.)(?:[^\s\\]|\\.)*)`)

// urlPassword matches the password in an address that is like a URL but none, such as one of several hosts with ports.
var urlPassword = regexp.MustCompile(`(://[^:/?#]*:).*(@)`)

// masked shows an address without its password, and nothing of a key.
func masked(value string) string {
	if value == "" || strings.Contains(value, "://") || keywordPassword.MatchString(value) || strings.Contains(value, "host=") {
		return WithoutPassword(value)
	}

	return mask
}

// WithoutPassword removes the passwords from an address, URL or keyword/value, and returns anything else unchanged.
func WithoutPassword(value string) string {
	address, err := url.Parse(value)
	if err != nil || address.Host == "" {
		return keywordPassword.ReplaceAllString(urlPassword.ReplaceAllString(value, "${1}"+hidden+"${2}"), "${1}"+hidden)
	}
	query := address.Query()
	for name := range query {
		if strings.HasSuffix(strings.ToLower(name), "password") {
			query.Set(name, hidden)
			address.RawQuery = query.Encode()
		}
	}

	return address.Redacted()
}

// Help lists the settings of a program as `--help` shows them.
func Help(by Program) string {
	var help strings.Builder
	help.WriteString("Settings, from the environment:\n")
	for _, l := range new(Settings).lines(by) {
		name := l.name
		if l.fallback != "" {
			name += " (" + l.fallback + ")"
		}
		fmt.Fprintf(&help, "\n%s: %s.\n", name, strings.ReplaceAll(l.meaning, "`", ""))
	}

	return help.String()
}
