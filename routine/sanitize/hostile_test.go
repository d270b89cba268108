package sanitize

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest/optional"
	"rote/routine/routinetest/stopwatch"
)

// hostileHTML are pages that cost a naive reader time or memory that grows with
// the square of their size, by name. Each is repeated up to a size.
var hostileHTML = map[string]hostileText{
	"brackets":               {part: "["},
	"stars and brackets":     {part: "*_["},
	"closing brackets":       {part: "]("},
	"less than":              {part: "<"},
	"tags that never close":  {part: "<a"},
	"ampersands":             {part: "&"},
	"entities":               {part: "&a"},
	"a long entity":          {before: "&", part: "a"},
	"backticks":              {part: "`"},
	"backticks in code":      {before: "<code>", part: "` "},
	"pipes in a cell":        {before: "<table><tr><td>", part: "|"},
	"backslashes":            {part: `\`},
	"bells":                  {part: "\a["},
	"dashes":                 {part: "- "},
	"numbers":                {part: "1. "},
	"one long word":          {part: "x"},
	"white space":            {part: " "},
	"lines":                  {part: "\n>"},
	"code block of lines":    {before: "<ul><li><ul><li><pre>", part: "\n"},
	"deep lists":             {part: "<ul><li>"},
	"deep lists with text":   {part: "<ol><li>x<br>y"},
	"deep quotes":            {part: "<blockquote>x"},
	"closed quotes":          {before: strings.Repeat("<blockquote>", 5000), part: "</blockquote>x<blockquote>"},
	"ends without beginning": {before: strings.Repeat("<ul>", 5000), part: "</blockquote></li>"},
	"items of no list":       {part: "<li>x"},
	"deep blocks":            {part: "<div>"},
	"deep spans":             {part: "<span>x"},
	"deep bold":              {part: "<b><i>"},
	"bold that differs":      {part: "<p><b id=x>y"},
	"paragraphs in bold":     {before: strings.Repeat("<b a=b><i a=b><u a=b>", 500), part: "<p>x"},
	"comments between texts": {part: "x<!---->"},
	"comments without end":   {part: "<!--"},
	"declarations":           {part: "<!x"},
	"attributes":             {before: "<a ", part: "a "},
	"attributes that differ": {before: "<a ", part: "a=\x00 b "},
	"an attribute":           {before: "<a href='", part: "(", after: "'>x</a>"},
	"links":                  {part: "<a href=x>y"},
	"links without text":     {part: "<a href=x>"},
	"blocks in a link":       {before: "<a href=" + strings.Repeat("y", 1000) + ">", part: "<p>x"},
	"images":                 {part: "<img src=x alt=[>"},
	"headings":               {part: "<h1>x"},
	"tables":                 {part: "<table>"},
	"cells":                  {before: "<table>", part: "<td>x"},
	"rows":                   {before: "<table>", part: "<tr><td>x"},
	"wide cells":             {before: "<table><tr>", part: "<td colspan=99999>x"},
	"high cells":             {before: "<table><tr>", part: "<tr><td rowspan=99999>x"},
	"tables in cells":        {part: "<table><tr><td>x"},
	"lists that touch":       {part: "<ul></ul>"},
	"hidden elements":        {part: "<svg>"},
	"hidden and shown":       {part: "<svg><p>x"},
	"scripts":                {part: "<script><!--<script>"},
	"templates":              {part: "<template>"},
	"options":                {before: "<select>", part: "<option>x"},
	"plain text":             {before: "<plaintext>", part: "<b>"},
	"processing":             {part: "<?"},
	"end tags":               {part: "</"},
	"end tags of nothing":    {part: "</b></a></td>"},
	"a long tag":             {before: "<", part: "x"},
	"zero bytes":             {part: "\x00"},
	"line breaks":            {part: "<br>"},
	"line breaks with text":  {part: "x<br>"},
	"a JSON string":          {before: `"`, part: `\n`, after: `"`},
	"a JSON string of pairs": {before: `"`, part: `\ud83d\ude00`, after: `"`},
}

// hostileJSON are such responses of JSON.
var hostileJSON = map[string]hostileText{
	"empty objects":       {before: "[{}", part: ",{}", after: "]"},
	"numbers":             {before: "[1", part: ",1", after: "]"},
	"lists of a number":   {before: "[[1]", part: ",[1]", after: "]"},
	"deep lists":          {before: "[0", part: "," + strings.Repeat("[", 400) + strings.Repeat("]", 400), after: "]"},
	"deep objects":        {before: "[0", part: "," + strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400), after: "]"},
	"too deep":            {part: "["},
	"a long number":       {before: "[", part: "9", after: "]"},
	"a long fraction":     {before: "[0.", part: "9", after: "]"},
	"large exponents":     {before: "[1", part: ",1e999999999", after: "]"},
	"fractions":           {before: "[1", part: ",0.1234567890123456789", after: "]"},
	"a long key":          {before: `{"`, part: "k", after: `":1}`},
	"a long escaped key":  {before: `{"`, part: `\u006b`, after: `":1}`},
	"a long text":         {before: `["`, part: "x", after: `"]`},
	"a text of escapes":   {before: `["`, part: `\n`, after: `"]`},
	"half surrogates":     {before: `["`, part: `\ud800`, after: `"]`},
	"the same key":        {before: `{"a":1`, part: `,"a":1`, after: "}"},
	"two keys in turn":    {before: `{"a":1`, part: `,"b":1,"a":2`, after: "}"},
	"objects of one key":  {before: `[{"a":1}`, part: `,{"a":1}`, after: "]"},
	"objects of two keys": {before: `[{"a":"x","b":null}`, part: `,{"a":"x","b":null}`, after: "]"},
	"no end":              {before: "[", part: "1,"},
	"no JSON":             {part: "x"},
	"white space":         {part: " "},
	"quotes":              {part: `"`},
}

// hostileText is a text that is made of repetitions.
type hostileText struct{ before, part, after string }

// make gives a text of about a size.
func (h hostileText) make(size int) []byte {
	return []byte(h.before + strings.Repeat(h.part, max((size-len(h.before)-len(h.after))/len(h.part), 1)) + h.after)
}

// hostileSanitizers are steps to try on texts of a kind.
var hostileSanitizers = map[string]map[string]hostileText{
	`{"type":"html_to_text"}`:                                   hostileHTML,
	`{"type":"html_to_markdown"}`:                               hostileHTML,
	`{"type":"truncate","max_chars":10000000}`:                  hostileHTML,
	`{"type":"json_path","path":"$..a"}`:                        hostileJSON,
	`{"type":"json_path","path":"$..*"}`:                        hostileJSON,
	`{"type":"json_path","path":"$..[-1:]"}`:                    hostileJSON,
	`{"type":"json_path","path":"$[?(@..a || @[*] == @[*])]"}`:  hostileJSON,
	`{"type":"json_path","path":"$..[?(@ =~ /(a|x+)*y/)]"}`:     hostileJSON,
	`{"type":"json_path","path":"$..[?(match(@.a, @.a))]"}`:     hostileJSON,
	`{"type":"json_path","path":"$..[?(@.a + @.a + 'x' > 1)]"}`: hostileJSON,
	`{"type":"drop","paths":["$..a","$[0]","$[-1]"]}`:           hostileJSON,
}

// hostileJoins are steps whose paths ask for work that grows with the square of
// the text. They have their bounds.
var hostileJoins = map[string]map[string]hostileText{
	`{"type":"json_path","path":"$[?(@.a == $[*])]"}`:        hostileJSON,
	`{"type":"json_path","path":"$..*..*"}`:                  hostileJSON,
	`{"type":"json_path","path":"$..[?(@..a == @..b)]"}`:     hostileJSON,
	`{"type":"json_path","path":"$..[?($..* - $..* > 1)]"}`:  hostileJSON,
	`{"type":"drop","paths":["$..*..[?(search(@, $..*))]"]}`: hostileJSON,
}

// eachHostile calls try for each step and each text that is hostile to it.
func eachHostile(t *testing.T, sanitizers map[string]map[string]hostileText, try func(*testing.T, *Step, hostileText)) {
	for sanitizer, texts := range sanitizers {
		steps, problems := Parse(json.RawMessage(sanitizer))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", sanitizer, problems)
		}
		for name, text := range texts {
			t.Run(sanitizer+" "+name, func(t *testing.T) { try(t, steps[0], text) })
		}
	}
}

// A step takes four times as long for four times the text. One that takes a time
// that grows with the square of the size takes sixteen times as long.
func TestSanitizersTakeLinearTime(t *testing.T) {
	optional.OneGoroutine(t)
	small, quick := 8<<10, 30*time.Millisecond
	if optional.IsFullSize() {
		small, quick = 1<<20, 300*time.Millisecond
	}
	eachHostile(t, hostileSanitizers, func(t *testing.T, s *Step, text hostileText) {
		timeOf := func(size int) time.Duration {
			input := text.make(size)
			return stopwatch.Time(func() { _, _ = s.Apply(t.Context(), input, 0, func(string) {}) })
		}
		one, four := time.Hour, time.Hour
		for range 10 { // what other processes do makes single measurements vary
			one, four = min(one, timeOf(small)), min(four, timeOf(4*small))
			if four < max(8*one, quick) {
				return
			}
		}
		t.Errorf("%v for %d bytes, %v for %d", one, small, four, 4*small)
	})
}

// The time that json_path takes grows linearly with the number of its paths.
func TestManyPathsTakeLinearTime(t *testing.T) {
	timeOf := func(paths int) time.Duration {
		list := make([]string, paths)
		for i := range list {
			list[i] = fmt.Sprintf(`"$.a%d"`, i)
		}
		steps, problems := Parse(json.RawMessage(`{"type": "json_path", "paths": [` + strings.Join(list, ",") + `]}`))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		start := stopwatch.ProcessorTime()
		if _, err := steps[0].Apply(t.Context(), []byte(`{"a1": 1}`), 0, func(string) {}); err != nil {
			t.Fatal(err)
		}
		return stopwatch.ProcessorTime() - start
	}
	one, eight := time.Hour, time.Hour
	for range 5 {
		one, eight = min(one, timeOf(2000)), min(eight, timeOf(16_000))
		if eight < 20*one {
			return
		}
	}
	t.Errorf("%v for 2,000 paths, %v for 16,000", one, eight)
}

// A step ends within a second of its context, whatever the text.
func TestSanitizersEndWithTheirContext(t *testing.T) {
	optional.OneGoroutine(t)
	large, longest := 256<<10, 50*time.Millisecond
	if optional.IsFullSize() {
		large, longest = 31<<20, 200*time.Millisecond
	}
	ends := func(t *testing.T, s *Step, text hostileText) {
		size := large
		if strings.HasPrefix(s.Type, "html") {
			size = min(size, maxHTML)
		}
		input := text.make(size)
		for _, limit := range []time.Duration{0, 5 * time.Millisecond, longest} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, &routine.Error{Code: routine.CodeTimeout, Message: "the run's time"})
			var err error
			took := stopwatch.Time(func() { _, err = s.Apply(ctx, input, 0, func(string) {}) })
			cancel()
			if took > time.Second+limit {
				t.Errorf("took %v after the end: %v", took-limit, err)
			}
			if took < limit {
				return
			}
		}
	}
	eachHostile(t, hostileSanitizers, ends)
	eachHostile(t, hostileJoins, ends)
}
