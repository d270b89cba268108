// Package docs is the documentation of rote: pages in Markdown, which people read in the
// repository, and which the program serves as HTML.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"path"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// index is the file with the list of all pages. In the repository it is shown with the
// directory.
const index = "README.md"

var (
	//go:embed *.md pictures/*.png
	files embed.FS

	//go:embed layout.html
	layoutText string
	layout     = template.Must(template.New("layout").Parse(layoutText))

	// Style is the style sheet of the pages.
	//
	//go:embed style.css
	Style []byte
)

// A page is a file of this package as HTML.
type page struct {
	Title string
	Body  template.HTML
	// Sections are the parts of the page that begin with a heading of the levels 1 to 3.
	sections []section
}

// section is a part of a page for the search.
type section struct {
	page, title, anchor, heading, text string
	// headingWords are those of the heading and of the page's title, textWords those of the text.
	headingWords, textWords string
}

// all returns the pages by the names of their files without ".md".
var all = sync.OnceValue(func() map[string]*page {
	pages := map[string]*page{}
	entries, _ := files.ReadDir(".") // of an embedded file system: it cannot fail
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		source, _ := files.ReadFile(e.Name())
		name := strings.TrimSuffix(e.Name(), ".md")
		pages[name] = render(name, source)
	}
	return pages
})

// Page returns the page with a name as a document of HTML, and whether there is one. Its links
// are relative to /docs/NAME.
func Page(name string) (document []byte, ok bool) {
	p := all()[name]
	if p == nil || name+".md" == index {
		return nil, false
	}
	return execute(view{Root: "../", Title: p.Title, Body: p.Body}), true
}

// Picture returns a picture of the pages, in PNG, and whether there is one of this name.
func Picture(name string) (png []byte, ok bool) {
	png, err := files.ReadFile("pictures/" + name)
	return png, err == nil
}

// Index returns the list of all pages as a document of HTML or, if a query is given, the
// sections that have all of its words. Its links are relative to /docs.
func Index(query string) []byte {
	p := all()[strings.TrimSuffix(index, ".md")]
	v := view{Title: p.Title, Query: query}
	if strings.TrimSpace(query) == "" {
		v.Body = p.Body
	} else {
		v.Title, v.Found = "Search", search(query)
	}
	return execute(v)
}

// view is the data of the layout.
type view struct {
	// Root is the relative URL of the directory that has docs.
	Root         string
	Title, Query string
	Body         template.HTML
	Found        []result
}

func execute(v view) []byte {
	var b bytes.Buffer
	if err := layout.Execute(&b, v); err != nil { // the template and its data are ours: a test renders every page
		panic(fmt.Sprintf("render a page of the documentation: %v", err))
	}
	return b.Bytes()
}

// render makes a page of its Markdown.
func render(name string, source []byte) *page {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	document := md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	root := "../"
	if name+".md" == index {
		root = ""
	}
	rewriteLinks(document, root)
	p := &page{sections: sections(name, document, source)}
	if len(p.sections) > 0 {
		p.Title = p.sections[0].heading
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, document); err != nil { // into memory: it cannot fail
		panic(fmt.Sprintf("render %s: %v", name, err))
	}
	p.Body = template.HTML(b.String()) // #nosec G203 -- of our own files, in which goldmark escapes HTML
	return p
}

// anchors gives headings the ids that GitHub gives them, by heading.
type anchors map[string]bool

// Generate returns the id of a heading with a text. A second heading with the same text gets a
// number.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '_', c == '-':
			return unicode.ToLower(c)
		case c == ' ':
			return '-'
		}
		return -1
	}, string(value))
	free := id
	for n := 1; a[free]; n++ {
		free = fmt.Sprint(id, "-", n)
	}
	a[free] = true
	return []byte(free)
}

// Put reserves an id.
func (a anchors) Put(value []byte) { a[string(value)] = true }

// rewriteLinks makes links between files of the repository links between what the program
// serves. A link to a file that it does not serve becomes its text.
func rewriteLinks(document ast.Node, root string) {
	var links []*ast.Link
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if link, ok := n.(*ast.Link); ok && entering {
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		if to, served := served(string(link.Destination)); !served {
			for child := link.FirstChild(); child != nil; child = link.FirstChild() {
				link.Parent().InsertBefore(link.Parent(), link, child)
			}
			link.Parent().RemoveChild(link.Parent(), link)
		} else if to != "" {
			link.Destination = []byte(root + to)
		}
	}
}

// served returns where the program serves what a link in a file of this package leads to,
// relative to the directory that has docs; empty if the link can stay. It reports whether the
// program serves that.
func served(destination string) (to string, ok bool) {
	if strings.Contains(destination, "://") || strings.HasPrefix(destination, "#") {
		return "", true
	}
	file, fragment, has := strings.Cut(destination, "#")
	if has {
		fragment = "#" + fragment
	}
	switch schema, isSchema := strings.CutPrefix(file, "../../schemas/"); {
	case file == index:
		return "docs" + fragment, true
	case isSchema && path.Ext(file) == ".json":
		return "schemas/" + schema, true
	case isSchema && schema == "openapi.yaml":
		return schema, true
	case !strings.Contains(file, "/") && path.Ext(file) == ".md":
		return "docs/" + strings.TrimSuffix(file, ".md") + fragment, true
	}
	return "", false
}
