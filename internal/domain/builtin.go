package domain

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed kitchen
var builtin embed.FS

// BuiltIn reports whether a domain of that name is embedded in the program.
func BuiltIn(name string) bool {
	_, err := fs.Stat(builtin, name+"/"+name+".yaml")

	return err == nil
}

// Embedded reports whether files are those of the domains that are embedded in the program.
func Embedded(files fs.FS) bool { return files == fs.FS(builtin) }

// Find returns the location of a domain's YAML: an embedded one by name ("kitchen"), or a file by path. Open and Load
// accept the result.
func Find(nameOrPath string) (fs.FS, string) {
	file := nameOrPath + "/" + nameOrPath + ".yaml"
	if _, err := fs.Stat(builtin, file); err == nil {
		return builtin, file
	}

	return os.DirFS(filepath.Dir(nameOrPath)), filepath.Base(nameOrPath)
}
