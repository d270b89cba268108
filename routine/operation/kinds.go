package operation

import (
	"iter"
	"slices"

	"rote/routine"
)

// Kind describes one type of operation. The fields that authors set are described in
// schemas/operations/<name>.json.
type Kind struct {
	Name string
	// Effect is what the operation does to the site.
	Effect Effect
	// NeedsPage reports whether the operation acts on the content of the page.
	NeedsPage bool
	// OpensPage reports whether a page is open after the operation. That includes
	// requests, which first open the origin of their URL.
	OpensPage bool
	// RequestsOnly reports whether the operation needs no more of the page than requests of
	// its origin; see [NeedsSite].
	RequestsOnly bool
	// SendsFiles reports whether the operation may make the site send a file, as a
	// click on a download link does.
	SendsFiles bool
	// Use is what the operation needs an element of the page for.
	Use routine.ElementUse
	// Result is the form of the result that the operation sets; empty if it sets none.
	Result ResultKind
	// new makes an action with the defaults filled in.
	new func() Action
}

// Ends reports whether a routine can end with the operation, because it sets the
// result.
func (k Kind) Ends() bool { return k.Result != "" }

// Effect is what an operation does to the site that it runs on.
type Effect string

const (
	// EffectReads means that the operation changes nothing on the site.
	EffectReads Effect = "reads"
	// effectNeutral means that the operation changes the page only. The site does not
	// learn of it before a later operation.
	effectNeutral Effect = "neutral"
	// EffectChanges means that the operation may change something on the site.
	EffectChanges Effect = "changes"
	// effectOfRequest means that the effect depends on the method of the operation's
	// request; see [Effect.With].
	effectOfRequest Effect = "request"
)

// With returns the effect of an operation that makes a request with a method;
// empty: the default method, or no request.
func (e Effect) With(method string) Effect {
	switch {
	case e != effectOfRequest:
		return e
	case ChangesSite(method):
		return EffectChanges
	}
	return EffectReads
}

// ChangesSite reports whether a request with the method may change something on
// the site. An empty method is the default, GET.
func ChangesSite(method string) bool { return method != "" && method != "GET" && method != "HEAD" }

// ResultKind is the form of a result's data.
type ResultKind string

const (
	// ResultValue is any JSON value.
	ResultValue ResultKind = "value"
	// ResultHTML is a string of HTML.
	ResultHTML ResultKind = "html"
	// ResultFile is a file as a base64 string.
	ResultFile ResultKind = "file"
)

// kinds is the only list of the types of operations, in the order of the
// interface. TestKindsAreInEveryPlace names what a new row still needs.
var kinds = []Kind{
	{Name: "navigate", Effect: EffectReads, OpensPage: true, new: func() Action { return &opNavigate{} }},
	{Name: "sleep", Effect: EffectReads, RequestsOnly: true, new: func() Action { return &opSleep{} }},
	{Name: "fetch", Effect: effectOfRequest, OpensPage: true, RequestsOnly: true, new: func() Action {
		return &opFetch{Endpoint: newEndpoint()}
	}},
	{Name: "return", Effect: EffectReads, RequestsOnly: true, Result: ResultValue, new: func() Action { return &opReturn{} }},
	{Name: "click", Effect: EffectChanges, Use: routine.UseClick, NeedsPage: true, SendsFiles: true, new: func() Action {
		return &opClick{Button: "left", ClickCount: 1, TimeoutMS: defaultTimeoutMS, EnsureVisible: true}
	}},
	{Name: "input_text", Effect: effectNeutral, Use: routine.UseText, NeedsPage: true, SendsFiles: true, new: func() Action {
		return &opInputText{TimeoutMS: defaultTimeoutMS}
	}},
	{Name: "press", Effect: EffectChanges, Use: routine.UsePage, SendsFiles: true, new: func() Action { return &opPress{} }},
	{Name: "wait_for_url", Effect: EffectReads, Use: routine.UsePage, NeedsPage: true, new: func() Action { return &opWaitForURL{TimeoutMS: defaultTimeoutMS} }},
	{Name: "scroll", Effect: EffectReads, Use: routine.UseRead, NeedsPage: true, new: func() Action {
		return &opScroll{Behavior: "auto", TimeoutMS: defaultTimeoutMS}
	}},
	{Name: "return_html", Effect: EffectReads, Use: routine.UseRead, NeedsPage: true, Result: ResultHTML, new: func() Action {
		return &opReturnHTML{Scope: "page", TimeoutMS: defaultTimeoutMS}
	}},
	{Name: "get_cookies", Effect: EffectReads, RequestsOnly: true, new: func() Action { return &opGetCookies{DomainFilter: "*"} }},
	{Name: "download", Effect: effectOfRequest, OpensPage: true, RequestsOnly: true, Result: ResultFile, new: func() Action {
		return &opDownload{Endpoint: newEndpoint()}
	}},
	{Name: "js_evaluate", Effect: EffectChanges, new: func() Action { return &opJSEvaluate{TimeoutSeconds: 5} }},
}

// defaultTimeoutMS is the default of timeout_ms in schemas/operations.
const defaultTimeoutMS = 20000

// Kinds returns the types of operations in the order of the documentation.
func Kinds() iter.Seq[Kind] { return slices.Values(kinds) }

// indexOfKind returns the index in kinds of the type with a name, or -1.
func indexOfKind(name string) int {
	return slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
}

// KindNames returns the names of the types of operations in the order of the
// documentation.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// KindOf returns the kind with a name; false if there is none.
func KindOf(name string) (Kind, bool) {
	if i := indexOfKind(name); i >= 0 {
		return kinds[i], true
	}
	return Kind{}, false
}

// EndingKinds returns the names of the types of operations that set the result.
func EndingKinds() []string {
	var names []string
	for _, k := range kinds {
		if k.Ends() {
			names = append(names, k.Name)
		}
	}
	return names
}
