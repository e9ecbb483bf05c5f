// Package schema holds the migrations, one numbered file each: alfred/ is the engine's schema, kitchen/ the reference
// domain's, directory/ that of the map from users to databases. It must not know how they are run: package pg does
// that. Start reading at alfred/0001_foundation.sql.
package schema

import "embed"

// Alfred is the folder alfred/ with the engine's migrations.
//
//go:embed alfred/*.sql
var Alfred embed.FS

// Directory is the folder directory/ with the map's migrations.
//
//go:embed directory/*.sql
var Directory embed.FS

// Kitchen is the folder kitchen/ with the reference domain's migrations.
//
//go:embed kitchen/*.sql
var Kitchen embed.FS
