package domain

import (
	"embed"
	"errors"
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

	return folder(filepath.Dir(nameOrPath)), filepath.Base(nameOrPath)
}

// folder is os.DirFS, except that errors name the whole path: it depends on where a program was started.
type folder string

// Open opens a file of the folder.
func (f folder) Open(name string) (fs.File, error) {
	file, err := os.DirFS(string(f)).Open(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		if whole, err := filepath.Abs(filepath.Join(string(f), name)); err == nil {
			failed.Path = whole
		}
	}

	return file, err
}
