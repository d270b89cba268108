package routine

// kind is one type of operation and all that is known about it without an
// operation at hand. The fields that authors see are in
// schemas/operations/<name>.json.
type kind struct {
	KindInfo
	// new makes an operation with the defaults filled in.
	new func() operation
}

// KindInfo describes a type of operation.
type KindInfo struct {
	Name string
	// Effect is what the operation does to the site.
	Effect Effect
	// NeedsPage reports whether the operation acts on what the page holds.
	NeedsPage bool
	// OpensPage reports whether there is a page after the operation: a request
	// goes to the origin of its URL first.
	OpensPage bool
	// SendsFiles reports whether the page may send a file because of the
	// operation, as it does when a link to one is clicked.
	SendsFiles bool
	// Result is what the operation makes the result of the run; empty: nothing.
	Result OutcomeKind
}

// Ends reports whether a routine can end with the operation because it sets the
// result.
func (k KindInfo) Ends() bool { return k.Result != "" }

// Effect is what an operation does to the site that it runs on.
type Effect string

const (
	// EffectReads: the operation changes nothing on the site.
	EffectReads Effect = "reads"
	// EffectNeutral: the operation changes the page, which tells the site nothing
	// until a later operation makes it.
	EffectNeutral Effect = "neutral"
	// EffectChanges: the operation may change something on the site.
	EffectChanges Effect = "changes"
	// EffectOfRequest: the effect depends on the method of the operation's
	// request; see [Effect.With].
	EffectOfRequest Effect = "request"
)

// With returns the effect of an operation that makes a request with a method;
// empty: the default method, or no request.
func (e Effect) With(method string) Effect {
	switch {
	case e != EffectOfRequest:
		return e
	case ChangesSite(method):
		return EffectChanges
	}
	return EffectReads
}

// ChangesSite reports whether a request with the method may change something on
// the site. An empty method is the default, GET.
func ChangesSite(method string) bool { return method != "" && method != "GET" && method != "HEAD" }

// kinds is the only list of the types of operations, in the order of the
// interface. TestKindsAreInEveryPlace names what a new row still needs.
var kinds = []kind{
	{KindInfo{Name: "navigate", Effect: EffectReads, OpensPage: true}, func() operation { return &opNavigate{} }},
	{KindInfo{Name: "sleep", Effect: EffectReads}, func() operation { return &opSleep{} }},
	{KindInfo{Name: "fetch", Effect: EffectOfRequest, OpensPage: true}, func() operation { return &opFetch{Endpoint: newEndpoint()} }},
	{KindInfo{Name: "return", Effect: EffectReads, Result: OutcomeValue}, func() operation { return &opReturn{} }},
	{KindInfo{Name: "click", Effect: EffectChanges, NeedsPage: true, SendsFiles: true}, func() operation {
		return &opClick{Button: "left", ClickCount: 1, TimeoutMS: defaultTimeoutMS, EnsureVisible: true}
	}},
	{KindInfo{Name: "input_text", Effect: EffectNeutral, NeedsPage: true, SendsFiles: true}, func() operation {
		return &opInputText{TimeoutMS: defaultTimeoutMS}
	}},
	{KindInfo{Name: "press", Effect: EffectChanges, SendsFiles: true}, func() operation { return &opPress{} }},
	{KindInfo{Name: "wait_for_url", Effect: EffectReads, NeedsPage: true}, func() operation { return &opWaitForURL{TimeoutMS: defaultTimeoutMS} }},
	{KindInfo{Name: "scroll", Effect: EffectReads, NeedsPage: true}, func() operation {
		return &opScroll{Behavior: "auto", TimeoutMS: defaultTimeoutMS}
	}},
	{KindInfo{Name: "return_html", Effect: EffectReads, NeedsPage: true, Result: OutcomeHTML}, func() operation {
		return &opReturnHTML{Scope: "page", TimeoutMS: defaultTimeoutMS}
	}},
	{KindInfo{Name: "get_cookies", Effect: EffectReads}, func() operation { return &opGetCookies{DomainFilter: "*"} }},
	{KindInfo{Name: "download", Effect: EffectOfRequest, OpensPage: true, Result: OutcomeFile}, func() operation {
		return &opDownload{Endpoint: newEndpoint()}
	}},
	{KindInfo{Name: "js_evaluate", Effect: EffectChanges}, func() operation { return &opJSEvaluate{TimeoutSeconds: 5} }},
}

// defaultTimeoutMS is the interface's default timeout_ms.
const defaultTimeoutMS = 20000

func kindNamed(name string) (kind, bool) {
	for _, k := range kinds {
		if k.Name == name {
			return k, true
		}
	}
	return kind{}, false
}

// KindNames returns the types of operations in the order of the interface.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// KindOf describes the type of operation with that name; false: there is none.
func KindOf(name string) (KindInfo, bool) {
	k, ok := kindNamed(name)
	return k.KindInfo, ok
}
