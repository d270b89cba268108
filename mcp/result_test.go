package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine/routinetest"
)

func TestLongResultsSayWhatWasTruncated(t *testing.T) {
	list := "[" + strings.Repeat(`{"name":"item","price":12.50},`, 4999) + `{"name":"last"}]`
	for _, row := range []struct {
		name, body string
		check      func(t *testing.T, d decoded)
	}{
		{"items", list, func(t *testing.T, d decoded) {
			var items []json.RawMessage
			if err := json.Unmarshal(d.Data, &items); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("data: the first %d of 5000 items", len(items))
			if len(items) < 900 || len(d.Truncated.Kept) != 1 || d.Truncated.Kept[0] != want {
				t.Errorf("kept %v, want %q", d.Truncated.Kept, want)
			}
		}},
		{"an object with one long list", `{"total":5000,"items":` + list + `,"page":1}`, func(t *testing.T, d decoded) {
			var object struct {
				Total, Page int
				Items       []json.RawMessage
			}
			if err := json.Unmarshal(d.Data, &object); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("data.items: the first %d of 5000 items", len(object.Items))
			if object.Total != 5000 || object.Page != 1 || len(object.Items) < 900 || d.Truncated.Kept[0] != want {
				t.Errorf("total %d, page %d, kept %v, want %q", object.Total, object.Page, d.Truncated.Kept, want)
			}
		}},
		{"text", strings.Repeat("ü€", 20000), func(t *testing.T, d decoded) {
			var text string
			if err := json.Unmarshal(d.Data, &text); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("data: the first %d of 40000 characters", len([]rune(text)))
			if len(text) < 30000 || strings.Trim(text, "ü€") != "" || d.Truncated.Kept[0] != want {
				t.Errorf("%d bytes, kept %v, want %q", len(text), d.Truncated.Kept, want)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t, lookup)
			h.browser.Page.Response = routinetest.Answer("application/json", row.body)
			result, text := callTool(t, connect(t, h.Server), "lookup", map[string]any{"id": 1})
			d := content(t, result, text)
			if d.Truncated == nil || d.Truncated.Next.Tool != "get_execution" || d.Truncated.Next.Arguments["execution_id"] != d.ExecutionID || d.Truncated.TotalBytes < len(row.body) {
				t.Fatalf("truncated %+v", d.Truncated)
			}
			row.check(t, d)
		})
	}
}

// A run on a browser that may not confine its pages is marked.
func TestUnverifiedRunsAreMarked(t *testing.T) {
	h := newTestServer(t, lookup)
	h.browser.Page.Response = routinetest.Answer("application/json", "1")
	for _, unverified := range []bool{false, true} {
		h.browser.Page.Unverified = unverified
		if _, text := callTool(t, connect(t, h.Server), "lookup", map[string]any{"id": 1}); strings.Contains(text, `"unverified":true`) != unverified {
			t.Errorf("unverified %v: %s", unverified, text)
		}
	}
}

func TestDownloads(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("p", 40000)
	for _, row := range []struct {
		name, contentType, body string
		content                 any // the second
		data                    string
		want                    fileDescription
	}{
		{"an image is one", "image/png", png, mcp.ImageContent{}, "null",
			fileDescription{"a.bin", "image/png", int64(len(png)), "in this answer, as an image", "", ""}},
		{"an image of another name too", "application/octet-stream", png, mcp.ImageContent{}, "null",
			fileDescription{"a.bin", "image/png", int64(len(png)), "in this answer, as an image", "", ""}},
		{"a large image is told of", "image/png", png + strings.Repeat("p", 1<<20), mcp.ResourceLink{}, "null",
			fileDescription{"a.bin", "image/png", int64(len(png)) + 1<<20, readHint, "", ""}},
		{"what only says it is an image is none", "image/png", "<html>no</html>", mcp.ResourceLink{}, "null",
			fileDescription{"a.bin", "image/png", 15, readHint, "", ""}},
		{"a text is in data", "text/csv; charset=utf-8", "a,b\n1,\u2028ü\n", nil, `"a,b\n1,` + "\u2028" + `ü\n"`,
			fileDescription{"a.bin", "text/csv", 12, "in this answer, as text in data", "", ""}},
		{"a text that is none is told of", "text/csv", "\xff\xfe", mcp.ResourceLink{}, "null", fileDescription{"a.bin", "text/csv", 2, readHint, "", ""}},
		{"any other file is told of", "", strings.Repeat("x", 3000), mcp.ResourceLink{}, "null",
			fileDescription{"a.bin", "application/octet-stream", 3000, readHint, "", ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newTestServer(t, grab)
			h.browser.Page.Response = routinetest.Answer(row.contentType, row.body)
			c := connect(t, h.Server)
			result, text := callTool(t, c, "grab", nil)
			d := content(t, result, text)
			if len(d.Files) != 1 {
				t.Fatalf("files %+v", d.Files)
			}
			row.want.URI = "execution://" + d.ExecutionID + "/files/a.bin"
			if d.Files[0] != row.want {
				t.Errorf("file %+v, want %+v", d.Files[0], row.want)
			}
			if string(d.Data) != row.data {
				t.Errorf("data %.80s", d.Data)
			}
			var second any
			if len(result.Content) > 1 {
				second = result.Content[1]
			}
			if fmt.Sprintf("%T", second) != fmt.Sprintf("%T", row.content) {
				t.Errorf("second content is %T, want %T", second, row.content)
			}
			if image, ok := second.(mcp.ImageContent); ok && image.Data != base64.StdEncoding.EncodeToString([]byte(row.body)) {
				t.Errorf("image with %d characters", len(image.Data))
			}
			if got := readResource(t, c, row.want.URI); got != row.body {
				t.Errorf("the resource has %d bytes, want %d", len(got), len(row.body))
			}
		})
	}
}

// A page's text must not reach a terminal's or a parser's soft spots.
func TestPageTextIsCleaned(t *testing.T) {
	h := newTestServer(t, lookup)
	h.browser.Page.Response = routinetest.Answer("application/json", `{"a":"\ud800x\u001b[31m\\u001b\u009b\"\n","k\u0007":"😀"}`)
	h.browser.Page.Warnings = []string{"dialog: \x1b]0;\xff"}
	result, text := callTool(t, connect(t, h.Server), "lookup", map[string]any{"id": 1})
	d := content(t, result, text)
	if want := `{"a":"�x[31m\\u001b\"\n","k":"😀"}`; string(d.Data) != want {
		t.Errorf("data %s, want %s", d.Data, want)
	}
	if want := "dialog: ]0;�"; d.Warnings[0] != want {
		t.Errorf("warning %q, want %q", d.Warnings[0], want)
	}
}

// The answer stays within its limit even if a page returns a lot.
func TestAnswerIsBounded(t *testing.T) {
	h := newTestServer(t, lookup)
	for range 30 {
		h.browser.Page.Warnings = append(h.browser.Page.Warnings, strings.Repeat("😀", 1000))
	}
	names := bytes.Buffer{}
	for i := range 1000 {
		fmt.Fprintf(&names, `%q:%q,`, strings.Repeat("n", 300)+fmt.Sprint(i), strings.Repeat("\"", i))
	}
	h.browser.Page.Response = routinetest.Answer("application/json", `{`+names.String()+`"last":null}`)
	result, text := callTool(t, connect(t, h.Server), "lookup", map[string]any{"id": 1})
	d := content(t, result, text)
	if len(d.Warnings) != maxWarnings+1 || d.Truncated == nil || len(d.Data) < 10000 {
		t.Errorf("%d warnings, %d bytes of data, truncated %+v", len(d.Warnings), len(d.Data), d.Truncated)
	}
}
