package program

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the command that prints what makes a shell complete a program's commands and flags.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh" help:"bash or zsh."`
}

// Help says how to use it.
func (c *Completion) Help() string { return "For this shell alone: source <(NAME completion bash)" }

// Run prints the script.
func (c *Completion) Run(parsed *kong.Context, console *Console) error {
	name := parsed.Model.Name
	var cases strings.Builder
	completions(parsed.Model.Node, "", &cases)
	script := fmt.Sprintf(completionScript, name, strings.TrimSuffix(cases.String(), "\n"))
	if c.Shell == "zsh" {
		script = "autoload -U +X bashcompinit && bashcompinit\n" + script
	}
	fmt.Fprint(console.Out, script)

	return nil
}

// completions writes which words may follow each command. A line's commands are gone down as far as they are known.
func completions(node *kong.Node, path string, out *strings.Builder) {
	var words []string
	for _, child := range node.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			words = append(words, "--"+flag.Name)
		}
	}
	fmt.Fprintf(out, "    %q) words=%q ;;\n", path, strings.Join(words, " "))
	for _, child := range node.Children {
		if !child.Hidden {
			completions(child, path+" "+child.Name, out)
		}
	}
}

const completionScript = `_%[1]s() {
  local path="" words="" word
  words_of() {
    case "$1" in
%[2]s
    *) return 1 ;;
    esac
  }
  words_of ""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if words_of "$path $word"; then path="$path $word"; fi
  done
  words_of "$path"
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _%[1]s %[1]s
`
