package domain

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed kitchen
var builtin embed.FS

// BuiltIn says whether the name is that of a domain that comes with the program.
func BuiltIn(name string) bool {
	_, err := fs.Stat(builtin, name+"/"+name+".yaml")

	return err == nil
}

// Find returns where a domain's YAML is: the name of one that comes with the
// program ("kitchen"), or a file's path. Open and Load take what it returns.
func Find(nameOrPath string) (fs.FS, string) {
	file := nameOrPath + "/" + nameOrPath + ".yaml"
	if _, err := fs.Stat(builtin, file); err == nil {
		return builtin, file
	}

	return os.DirFS(filepath.Dir(nameOrPath)), filepath.Base(nameOrPath)
}
