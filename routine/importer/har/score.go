package har

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"rote/routine/importer/jsontree"
	"rote/routine/requests"
)

// What speaks for a request and against it.
const (
	scoreData     = 50
	scoreOK       = 20
	scoreSite     = 15
	scoreSize     = 10
	scorePolled   = -10
	scoreNoData   = -100
	leastDataSize = 200
	mostDataSize  = 2 << 20
)

// setPages finds the page from which each request was sent.
func (f *file) setPages() {
	last := map[string]string{} // the URLs of the latest documents by the pages of the file
	for _, e := range f.entries {
		referer := headerOf(e.Headers, "referer")
		page := last[e.pageRef]
		if page == "" || origin(referer) != "" && origin(referer) != origin(page) {
			page = referer
		}
		e.PageURL = page
		if e.Kind == "document" || origin(page) == "" {
			e.PageURL = e.URL
		}
		if e.Kind == "document" && e.Status >= 200 && e.Status < 300 {
			last[e.pageRef] = e.URL
		}
	}
}

// origin is the origin of a URL of the web; empty for others.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// site is the part of a host that belongs to one owner.
func site(host string) string {
	if s, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return s
	}
	return host
}

// changing matches the values of a query that only keep answers from being cached.
var changing = regexp.MustCompile(`([?&](?:_|t|ts|cb|rnd|nocache|timestamp)=)\d{9,}`)

// rate gives each request its score, and ranks those that have data.
func (f *file) rate() {
	own := f.site()
	sent := map[string]int{}
	for _, e := range f.entries {
		e.key = e.Method + " " + e.URL + " " + e.Body
		if strings.Contains(e.URL, "?") {
			e.key = e.Method + " " + changing.ReplaceAllString(e.URL, "$1") + " " + e.Body
		}
		sent[e.key]++
	}
	seen := map[string]bool{}
	for _, e := range slices.Backward(f.entries) {
		e.score = e.rating(own)
		if sent[e.key] > 1 {
			e.score += scorePolled
		}
		if e.score >= scoreData && e.data && e.Status >= 200 && origin(e.URL) != "" && !seen[e.key] {
			f.ranked = append(f.ranked, e)
			seen[e.key] = true
		}
	}
	order := func(a, b *entry) int { return cmp.Or(b.score-a.score, cmp.Compare(b.AnswerSize, a.AnswerSize)) }
	slices.SortStableFunc(f.ranked, order)
	f.preferRows()
}

// site is that of the first document, or of the first request.
func (f *file) site() string {
	for _, e := range f.entries {
		if e.Kind == "document" && !e.static {
			return site(e.host)
		}
	}
	if len(f.entries) > 0 {
		return site(f.entries[0].host)
	}
	return ""
}

func (e *entry) rating(own string) int {
	score := 0
	if e.data {
		score += scoreData
	}
	if e.Status >= 200 && e.Status < 300 {
		score += scoreOK
	}
	if e.AnswerSize >= leastDataSize && e.AnswerSize <= mostDataSize {
		score += scoreSize
	}
	if site(e.host) == own {
		score += scoreSite
	}
	if e.static {
		score += scoreNoData
	}
	return score
}

// preferRows puts those of the best requests first whose answers have the longest lists of
// objects: what people want is mostly a list.
func (f *file) preferRows() {
	rows := map[*entry]int{}
	best := f.ranked[:min(len(f.ranked), maxListed)]
	for _, e := range best {
		if v, err := jsontree.Parse(string(e.Answer)); err == nil {
			rows[e] = longestList(v)
		}
	}
	slices.SortStableFunc(best, func(a, b *entry) int {
		return cmp.Or(b.score-a.score, rows[b]-rows[a], boolean(requests.Safe(&b.Request))-boolean(requests.Safe(&a.Request)))
	})
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// longestList is the length of the longest list of objects in a value.
func longestList(v *jsontree.Value) int {
	longest := 0
	if v.Kind == jsontree.Array && len(v.Items) > 0 && v.Items[0].Kind == jsontree.Object {
		longest = len(v.Items)
	}
	for _, item := range v.Items {
		longest = max(longest, longestList(item))
	}
	for _, field := range v.Fields {
		longest = max(longest, longestList(field.Value))
	}
	return longest
}
