// Package schemas contains the published JSON Schemas (draft 2020-12) of
// routines, parameters, endpoints and all kinds of operations. They define the
// fields with their limits and defaults, and describe them well enough to write
// routines. Rules that involve several fields are checked in Go, where the
// error can suggest a fix.
package schemas

import "embed"

// BaseURL is the prefix of the $id of every schema, followed by the file's path
// in [Files]. Nothing is served there; it only lets the files refer to each
// other.
const BaseURL = "https://rote.invalid/schemas/"

// Files contains the schemas. Operations of type t are described by
// operations/t.json.
//
//go:embed *.json operations/*.json
var Files embed.FS

//go:embed openapi.yaml
var openAPI []byte
