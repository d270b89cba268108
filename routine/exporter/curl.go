package exporter

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"rote/routine/importer/jsontree"
)

// curl writes a command of cURL for each request. Parameters are variables of the shell.
func (w *writer) curl() string {
	var commands []string
	last := "" // the key of the last answer
	w.each(func(i int, o *operation) {
		switch {
		case o.Type == "return" && o.StorageKey == last && last != "":
			return // it is what the last command prints
		case o.Endpoint == nil:
			w.drop("operation", "cURL has no pages: %s is not in the commands", o.Type)
			return
		case !w.onlyParameters(o.requestTexts()...):
			return
		}
		w.leftOut(o, "endpoint", "session_storage_key", "filename")
		if o.Endpoint.Credentials != "" && o.Endpoint.Credentials != "omit" {
			w.change("cookie", "the cookies of the page are not sent")
		}
		for _, text := range o.requestTexts() {
			if len(tokens(text)) > 0 {
				w.change("parameter", "the shell inserts values as they are: encode those with special characters yourself")
			}
		}
		last = o.StorageKey
		commands = append(commands, command(o))
	})
	if len(commands) == 0 {
		return ""
	}
	return strings.Join(commands, "\n") + "\n"
}

// command is the command of a request.
func command(o *operation) string {
	parts := []string{"curl " + shell(o.Endpoint.URL)}
	body, isForm := o.body()
	method := o.Endpoint.Method
	switch {
	case method == "HEAD":
		parts = append(parts, "-I")
	case method != "" && method != "GET":
		parts = append(parts, "-X "+method)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Endpoint.Headers)) {
		parts = append(parts, "-H "+shell(name+": "+o.Endpoint.Headers[name]))
	}
	if isForm {
		for _, f := range o.Body.Fields {
			items := []*jsontree.Value{f.Value}
			if f.Value.Kind == jsontree.Array {
				items = f.Value.Items
			}
			for _, item := range items {
				parts = append(parts, "--data-urlencode "+shell(url.QueryEscape(f.Name)+"="+item.Text))
			}
		}
	} else if body != "" {
		parts = append(parts, "--data-raw "+shell(body))
	}
	if o.Type == "download" {
		parts = append(parts, "-o "+shell(o.Filename))
	}
	return strings.Join(parts, " \\\n  ")
}

// shell is a text as one word of a POSIX shell, with the values of parameters in it.
func shell(text string) string {
	plain := func(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }
	return "'" + fill(text, plain, func(name string) string { return fmt.Sprintf(`'"$%s"'`, variable(name)) }) + "'"
}
