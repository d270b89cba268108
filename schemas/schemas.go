// Package schemas holds what rote publishes about its formats: JSON Schemas
// (draft 2020-12) of a routine, its parameters and endpoints, and of every kind
// of operation. They say which fields there are, their bounds and defaults, and
// describe them well enough to write routines from. Rules that tie fields to
// each other are checked in Go, which can name the remedy.
package schemas

import "embed"

// BaseURL begins the $id of every schema; what follows is the file's path in
// [Files]. Nothing is served there: it only lets the files refer to each other.
const BaseURL = "https://rote.invalid/schemas/"

// Files are the schemas. An operation of type t is described by
// operations/t.json.
//
//go:embed *.json operations/*.json
var Files embed.FS

//go:embed openapi.yaml
var openAPI []byte
