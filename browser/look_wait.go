package browser

import "strings"

// waitingForItems returns a script that gives the result of script, an arrow function that
// is called at once and returns an array, as soon as it is not empty, and after 3 s in any
// case. A list often comes some time after the page or the click that asks for it.
func waitingForItems(script string) string {
	read := strings.TrimSuffix(strings.TrimPrefix(script, "("), ")()")
	return "(async () => { const read = " + read + "; for (let i = 0; i < 60; i++) { try { if (read().length) break; } catch {} " +
		"await new Promise(done => setTimeout(done, 50)); } return read(); })()"
}
