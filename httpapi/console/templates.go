package console

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"

	"rote/routine"
)

//go:embed templates
var templateFiles embed.FS

// parseTemplates returns the pages by name. Each is a file of templates/pages that defines
// "main", with the layout and the parts that all pages share.
func (x *console) parseTemplates() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(x.templateFunctions()).ParseFS(templateFiles, "templates/*.html"))
	files, err := fs.Glob(templateFiles, "templates/pages/*.html")
	if err != nil {
		panic(err) // the pattern is valid
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "templates/pages/"), ".html")
		pages[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, file))
	}
	return pages
}

// templateFunctions are the functions that templates call.
func (x *console) templateFunctions() template.FuncMap {
	return template.FuncMap{
		"to":       x.to,
		"asset":    func(name string) string { return x.assets.path(x.base, name) },
		"schema":   func() string { return strings.TrimSuffix(x.base, "/console") + "/schemas/routine.json" },
		"docs":     func(page string) string { return strings.TrimSuffix(x.base, "/console") + "/docs" + page },
		"duration": duration,
		"took":     took,
		"size":     size,
		"size64":   func(n int) string { return size(int64(n)) },
		"utc":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"unix":     func(seconds int64) time.Time { return time.Unix(seconds, 0) },
		"ago":      func(t time.Time) string { return ago(time.Since(t)) },
		"short":    func(id string) string { return shortID(id) },
		"add":      func(a, b int) int { return a + b },
		"truncate": routine.Truncate,
		"plain":    routine.PlainText,
		"join":     strings.Join,
		"may":      may,
		"list":     func(values ...any) []any { return values },
	}
}

// may returns what somebody lacks for an action that needs a scope, as text of a control
// that is disabled; empty if nothing.
func may(p routine.Principal, scope string) (string, error) {
	needed, err := routine.ParseScopes([]string{scope})
	if err != nil {
		return "", err
	}
	if p.Has(needed) {
		return "", nil
	}
	return "needs a token with the scope " + scope, nil
}

// duration returns a number of seconds as people read it: 38 ms, 1.4 s, 2 min 5 s.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// took returns a duration in seconds, or a dash if it is not known.
func took(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return duration(*seconds)
}

// ago returns how long ago something was, within a day; empty beyond it, where the date
// says more.
func ago(d time.Duration) string {
	switch {
	case d < 0 || d >= 24*time.Hour:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

// size returns a number of bytes as people read it.
func size(n int64) string {
	const kib = 1 << 10
	switch {
	case n < kib:
		return fmt.Sprintf("%d B", n)
	case n < kib*kib:
		return fmt.Sprintf("%.1f KiB", float64(n)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/kib/kib)
}

// shortID returns the end of an id, which is the part that differs between ids of one day.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "Routine_")
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}
