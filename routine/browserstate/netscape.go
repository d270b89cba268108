package browserstate

import (
	"strconv"
	"strings"
)

// readLines reads cookies.txt: a line for each cookie with seven fields between tabs, which are
// the domain, whether it is for the hosts below too, the path, whether it is for https only, when
// it expires (Unix seconds; 0 with the browser), the name and the value.
func (r *reader) readLines(text string) {
	line := 0
	for raw := range strings.Lines(text) {
		line++
		at := place{line: line}
		raw = strings.TrimSuffix(strings.TrimSuffix(raw, "\n"), "\r")
		raw, httpOnly := strings.CutPrefix(raw, "#HttpOnly_")
		if !httpOnly && (strings.HasPrefix(raw, "#") || strings.TrimSpace(raw) == "") {
			continue
		}
		fields := strings.Split(raw, "\t")
		if len(fields) != 7 {
			r.add(at, "type", "a line has seven fields with a tab between them: "+shapes)
			return
		}
		domain, below, path, secure, expires, name, value := fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]
		c := Cookie{Name: name, Value: value, Path: path, HTTPOnly: httpOnly, Secure: secure == "TRUE"}
		for _, flag := range []string{below, secure} {
			if flag != "TRUE" && flag != "FALSE" {
				r.add(at, "value", "the second and fourth field are TRUE or FALSE, not "+quote(flag))
			}
		}
		seconds, err := strconv.ParseFloat(expires, 64)
		if err != nil || !(seconds >= -1 && seconds < 1e12) {
			r.add(at, "value", "the fifth field is when the cookie expires, in Unix seconds, not "+quote(expires))
			continue
		}
		c.Expires = max(seconds, 0)
		domain = strings.TrimPrefix(domain, ".")
		if below == "TRUE" {
			domain = "." + domain
		}
		r.addCookie(at, c, domain)
	}
}
