package routine

import (
	"sort"
	"strings"
)

// nearest is the candidate that name was probably meant to be; empty when none
// is close. "timeout" means "timeout_ms", "selecter" means "selector".
func nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	fold := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))
	for _, c := range sorted {
		d := distance(fold, strings.ToLower(c))
		if len(fold) >= 3 && (strings.Contains(c, fold) || len(c) >= 3 && strings.Contains(fold, c)) {
			d = min(d, 2)
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a (optimal string alignment). Names longer than 64
// bytes are cut, which bounds the cost.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
