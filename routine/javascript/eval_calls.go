package javascript

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// template returns the possible texts of a template literal.
func (f *flow) template(n *js.TemplateExpr) []text {
	raw := false
	if dot, ok := Unwrap(n.Tag).(*js.DotExpr); ok {
		raw = MemberName(dot) == "raw" && f.eval(dot.X).kinds&kString != 0
	}
	if n.Tag != nil && !raw {
		return unknown
	}
	piece := func(data []byte, cut int) []text {
		data = data[1 : len(data)-cut]
		if raw {
			return exactly(string(data))
		}
		return exactly(Unescape(data))
	}
	out := exactly("")
	for _, p := range n.List {
		out = concat(out, piece(p.Value, 2))
		out = concat(out, f.eval(p.Expr).texts)
	}
	return concat(out, piece(n.Tail, 1))
}

// evalCall returns the value of a call: what a function of the script returns,
// or the result of some string functions of the language.
func (f *flow) evalCall(n *js.CallExpr) value {
	var x, callee value
	var name string
	switch n := Unwrap(n.X).(type) {
	case *js.DotExpr:
		x, name = f.eval(n.X), MemberName(n)
		callee = f.member(x, exactly(name))
	case *js.IndexExpr:
		x = f.eval(n.X)
		names := f.eval(n.Y).texts
		name, _ = singleText(names)
		callee = f.member(x, names)
	default:
		callee = f.eval(n)
	}
	v, own := value{}, false
	for _, o := range callee.objs {
		if fn := f.functions[o]; fn != nil {
			v, own = v.join(fn.value), true
		}
	}
	if own || f.isPending(callee) {
		return v
	}
	switch callee := Unwrap(n.X).(type) {
	case *js.Var:
		if name, ok := Free(callee); ok {
			return f.callGlobal(name, n.Args.List)
		}
	case *js.DotExpr:
		return f.callMember(callee.X, x, name, n.Args.List)
	case *js.IndexExpr:
		return f.callMember(callee.X, x, name, n.Args.List)
	}
	return value{texts: unknown}
}

// arg returns the value of argument i.
func (f *flow) arg(args []js.Arg, i int) value {
	if i < len(args) && !args[i].Rest {
		return f.eval(args[i].Value)
	}
	return value{texts: unknown}
}

func (f *flow) callGlobal(name string, args []js.Arg) value {
	switch name {
	case "String":
		return value{texts: f.arg(args, 0).texts}
	case "Object":
		return f.arg(args, 0)
	case "Symbol", "Number", "parseInt", "parseFloat":
		return value{texts: never}
	case "atob", "decodeURIComponent", "decodeURI", "unescape":
	default:
		return value{texts: unknown}
	}
	return value{texts: mapTexts(f.arg(args, 0).texts, func(s string) (string, bool) { return decode(name, s) })}
}

// decode returns the result of a decoding function of the window.
func decode(name, s string) (string, bool) {
	switch name {
	case "atob":
		b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(s), ""), "="))
		return string(b), err == nil
	default:
		u, err := url.PathUnescape(s)
		return u, err == nil
	}
}

// callMember returns the value of e.name(args), where x is the value of e.
func (f *flow) callMember(e js.IExpr, x value, name string, args []js.Arg) value {
	switch {
	case name == "valueOf":
		return x
	case name == "bind" && x.kinds&kTimer != 0:
		return value{kinds: kTimer, texts: unknown}
	case name == "createElement":
		for _, t := range f.arg(args, 0).texts {
			if t.exact && loaders[strings.ToLower(t.prefix)] {
				return value{kinds: kLoader, texts: unknown}
			}
		}
	case x.kinds&kSymbol != 0:
		return value{texts: never}
	case x.kinds&kString != 0 && (name == "fromCharCode" || name == "fromCodePoint"):
		return value{texts: f.fromCodes(args)}
	case x.kinds&kGlobal != 0:
		return f.callGlobal(name, args)
	case x.kinds&kReflect != 0:
		return f.callReflect(name, args)
	case name == "pop" || name == "shift" || name == "at":
		return f.member(x, never)
	case name == "join":
		return value{texts: f.join(e, args)}
	}
	return value{texts: f.callString(x.texts, name, args)}
}

// loaders are elements that load the URL that is set.
var loaders = map[string]bool{"img": true, "audio": true, "video": true, "source": true, "track": true, "image": true}

func (f *flow) callReflect(name string, args []js.Arg) value {
	switch name {
	case "get":
		return f.member(f.arg(args, 0), f.arg(args, 1).texts)
	case "getPrototypeOf":
		return value{kinds: f.arg(args, 0).kinds & kFunction, texts: unknown}
	case "assign":
		v := value{texts: unknown}
		for i := range args {
			v = v.join(f.arg(args, i))
		}
		return v
	case "freeze", "seal", "create", "setPrototypeOf":
		return f.arg(args, 0)
	}
	return value{texts: unknown}
}

func (f *flow) fromCodes(args []js.Arg) []text {
	out := exactly("")
	for _, a := range args {
		code := mapTexts(f.eval(a.Value).texts, func(s string) (string, bool) {
			i, err := strconv.ParseInt(s, 0, 32)
			return string(rune(i)), err == nil
		})
		if a.Rest {
			code = unknown
		}
		out = concat(out, code)
	}
	return out
}

// join returns the texts of list.join(separator).
func (f *flow) join(list js.IExpr, args []js.Arg) []text {
	sep := exactly(",")
	if len(args) > 0 {
		sep = f.eval(args[0].Value).texts
	}
	out := exactly("")
	for i, t := range f.strings(list) {
		if i > 0 {
			out = concat(out, sep)
		}
		out = concat(out, t)
	}
	return out
}

// strings returns the elements of an array of strings. One unknown element
// represents an unknown array.
func (f *flow) strings(list js.IExpr) (out [][]text) {
	if call, ok := Unwrap(list).(*js.CallExpr); ok {
		dot, ok := Unwrap(call.X).(*js.DotExpr)
		if !ok {
			return [][]text{unknown}
		}
		switch MemberName(dot) {
		case "reverse":
			out = f.strings(dot.X)
			slices.Reverse(out)
			return out
		case "split":
			s, known := singleText(f.eval(dot.X).texts)
			if sep := f.argument(call.Args.List, 0); known && len(call.Args.List) == 1 && sep != nil {
				for _, part := range strings.Split(s, *sep) {
					out = append(out, exactly(part))
				}
				return out
			}
		}
		return [][]text{unknown}
	}
	objs := f.eval(list).objs
	if len(objs) != 1 {
		return [][]text{unknown}
	}
	array, ok := objs[0].(*js.ArrayExpr)
	if !ok {
		return [][]text{unknown}
	}
	for _, e := range array.List {
		switch {
		case e.Value == nil:
			out = append(out, exactly(""))
		case e.Spread:
			s, known := singleText(f.eval(e.Value).texts)
			if !known {
				return [][]text{unknown}
			}
			for _, r := range s {
				out = append(out, exactly(string(r)))
			}
		default:
			out = append(out, f.eval(e.Value).texts)
		}
	}
	return out
}

// argument returns the string that is passed, or nil if it is not known.
func (f *flow) argument(args []js.Arg, i int) *string {
	if i < len(args) && !args[i].Rest {
		if s, ok := singleText(f.eval(args[i].Value).texts); ok {
			return &s
		}
	}
	return nil
}
