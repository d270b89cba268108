package definition

import (
	"encoding/base64"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"rote/routine"
)

// Limits of the texts that describe a file, in bytes.
const (
	maxInputFileName = 255
	maxMediaType     = 127
)

// inputFileSchema is the JSON Schema of one file in a value of type x-files.
const inputFileSchema = `{"type":"object","properties":{` +
	`"name":{"type":"string","description":"File name without a path, for example cv.pdf"},` +
	`"type":{"type":"string","description":"Media type, for example application/pdf"},` +
	`"base64":{"type":"string","description":"The content in base64"}},` +
	`"required":["name","type","base64"],"additionalProperties":false}`

// filesNote states a limit for which JSON Schema has no keyword.
var filesNote = fmt.Sprintf("Files to upload, together at most %s.", formatMiB(routine.MaxInputFileBytes))

// formatMiB returns a number of bytes as text in MiB.
func formatMiB(bytes int) string { return fmt.Sprintf("%v MiB", float64(bytes)/(1<<20)) }

// convertFiles converts a decoded JSON value to files. The value is a list of objects
// or one object, or a string that contains such JSON.
func convertFiles(v any) (any, *fault) {
	if text, ok := v.(string); ok {
		if routine.DecodeJSON([]byte(text), &v) != nil {
			v = nil
		}
	}
	if one, ok := v.(map[string]any); ok {
		v = []any{one}
	}
	list, ok := v.([]any)
	if !ok {
		return nil, faultf("type", `must be a list of files, as in [{"name": "cv.pdf", "type": "application/pdf", "base64": "…"}]`)
	}
	if len(list) == 0 {
		return nil, faultf("min_items", "must hold at least one file")
	}
	if len(list) > routine.MaxInputFiles {
		return nil, faultf("max_items", "must hold at most %d files, not %d", routine.MaxInputFiles, len(list))
	}
	files, room := make([]routine.InputFile, len(list)), routine.MaxInputFileBytes
	for i, item := range list {
		var f *fault
		if files[i], f = convertFile(item, i, room); f != nil {
			return nil, f
		}
		room -= len(files[i].Data)
	}
	return files, nil
}

var fileFields = []string{"name", "type", "base64"}

// convertFile converts file i of a list. room bounds its size in bytes.
func convertFile(v any, i, room int) (routine.InputFile, *fault) {
	object, ok := v.(map[string]any)
	which := fmt.Sprintf("file %d", i+1)
	if !ok {
		return routine.InputFile{}, faultf("type", "%s must be an object with name, type and base64", which)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(fileFields, name) {
			return routine.InputFile{}, faultf("unknown_field", "%s has no field %s: its fields are name, type and base64",
				which, strconv.Quote(routine.Truncate(name, 60)))
		}
	}
	text := map[string]string{}
	for _, name := range fileFields {
		if text[name], ok = object[name].(string); !ok {
			return routine.InputFile{}, faultf("required", "%s needs the field %s, which is a string", which, name)
		}
	}
	if bad := badFileName(text["name"]); bad != "" {
		return routine.InputFile{}, faultf("file_name", "the name of %s %s", which, bad)
	}
	which += " (" + routine.Truncate(text["name"], 60) + ")"
	if !isMediaType(text["type"]) {
		return routine.InputFile{}, faultf("media_type", "the type of %s must be a media type, as in application/pdf", which)
	}
	data, f := decodeFile(text["base64"], which, room)
	return routine.InputFile{Name: text["name"], Type: text["type"], Data: data}, f
}

// badFileName returns why name is not a valid file name, or an empty string if it is.
func badFileName(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "must be the name of a file, as in cv.pdf"
	case len(name) > maxInputFileName:
		return fmt.Sprintf("must have at most %d bytes, not %d", maxInputFileName, len(name))
	case strings.ContainsAny(name, `/\`):
		return `must have no path: leave out what comes before the last / or \`
	case strings.ContainsFunc(name, unicode.IsControl):
		return "must have no control characters"
	}
	return ""
}

func isMediaType(text string) bool {
	kind, _, err := mime.ParseMediaType(text)
	main, sub, _ := strings.Cut(kind, "/")
	return err == nil && main != "" && sub != "" && len(text) <= maxMediaType
}

// decodeFile decodes the base64 content of a file. which names the file in messages.
func decodeFile(text, which string, room int) ([]byte, *fault) {
	tooLarge := func() *fault {
		return faultf("too_large", "%s is too large: the files of a call have at most %s together", which, formatMiB(routine.MaxInputFileBytes))
	}
	if base64.StdEncoding.DecodedLen(len(text)) > room+2 { // 2 for the padding
		return nil, tooLarge()
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case strings.HasPrefix(text, "data:"):
		return nil, faultf("base64", "%s must be base64 alone: leave out what comes before the content (data:…;base64,)", which)
	case err != nil || strings.ContainsAny(text, "\r\n"):
		return nil, faultf("base64", "%s is not base64: use the standard alphabet (A-Z a-z 0-9 + /), = as padding and no line ends", which)
	case len(data) > room:
		return nil, tooLarge()
	}
	return data, nil
}

// checkFiles reports the first parameter whose files make those of the call exceed
// their total size.
func checkFiles(d *routine.Definition, values routine.Values, found *report) {
	room := routine.MaxInputFileBytes
	for _, p := range d.Parameters {
		files, _ := values[p.Name].([]routine.InputFile)
		for i, f := range files {
			if room -= len(f.Data); room < 0 {
				found.add(valueProblem(p.Name, "too_large", fmt.Sprintf("goes over the limit with file %d (%s): the files of a call have at most %s together",
					i+1, routine.Truncate(f.Name, 60), formatMiB(routine.MaxInputFileBytes))))
				return
			}
		}
	}
}
