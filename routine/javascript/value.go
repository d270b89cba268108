package javascript

import (
	"slices"

	"github.com/tdewolff/parse/v2/js"
)

// kind is a set of kinds of browser objects whose members are checked.
type kind uint16

const (
	kGlobal kind = 1 << iota
	kDocument
	kNavigator
	kLocation
	kHistory
	kNavigation
	kReflect     // Reflect or Object
	kTimer       // setTimeout or setInterval
	kImage       // the constructor Image or Audio
	kLoader      // an element of the script that loads the URL that is set
	kConstructor // something.constructor
	kFunction    // a function, or the prototype of one
	kMaker       // the constructor of a function: it makes code from strings
	kString      // String
	kSymbol      // Symbol
)

// value is what an expression may be.
type value struct {
	kinds kind
	// texts is the value as a string; nil only until flow is solved.
	texts []text
	// objs are the functions and literals that it may be.
	objs []js.INode
}

const maxObjs = 32

func (v value) join(w value) value {
	v.kinds |= w.kinds
	v.texts = union(v.texts, w.texts)
	for _, o := range w.objs {
		switch {
		case slices.Contains(v.objs, o):
		case len(v.objs) < maxObjs:
			v.objs = append(slices.Clip(v.objs), o)
		default:
			v.texts = union(v.texts, unknown)
		}
	}
	return v
}

func (v value) same(w value) bool {
	return v.kinds == w.kinds && slices.Equal(v.texts, w.texts) && len(v.objs) == len(w.objs)
}

// open reports whether v may also be an unknown value.
func (v value) open() bool {
	return slices.ContainsFunc(v.texts, func(t text) bool { return !t.exact && !t.never })
}

// globals are the kinds of the window's members.
var globals = map[string]kind{
	"window": kGlobal, "self": kGlobal, "globalThis": kGlobal, "top": kGlobal, "parent": kGlobal, "frames": kGlobal, "opener": kGlobal,
	"document": kDocument, "navigator": kNavigator, "clientInformation": kNavigator,
	"location": kLocation, "history": kHistory, "navigation": kNavigation,
	"Reflect": kReflect, "Object": kReflect, "String": kString, "Symbol": kSymbol,
	"setTimeout": kTimer, "setInterval": kTimer, "Image": kImage, "Audio": kImage,
}

// AnyNumber represents an unknown number.
var AnyNumber js.IExpr = &js.UnaryExpr{Op: js.PosToken}

// element returns an expression for any element of list.
func element(list js.IExpr) js.IExpr { return &js.IndexExpr{X: list, Y: AnyNumber} }

// Declared returns the variable that the declaration of v created. The parser
// makes one of its own for each scope that uses a name, and links them.
func Declared(v *js.Var) *js.Var {
	for v.Link != nil {
		v = v.Link
	}
	return v
}

// Free returns the name of a variable that the script does not declare.
func Free(e js.IExpr) (string, bool) {
	v, ok := e.(*js.Var)
	if !ok || Declared(v).Decl != js.NoDecl {
		return "", false
	}
	return Unescape(Declared(v).Data), true
}

// Unwrap returns the expression whose value e has, without parentheses and
// without what is before the last comma.
func Unwrap(e js.IExpr) js.IExpr {
	for {
		switch n := e.(type) {
		case *js.GroupExpr:
			e = n.X
		case *js.CommaExpr:
			e = n.List[len(n.List)-1]
		default:
			return e
		}
	}
}

// MemberName returns the name after the dot. Private names start with #.
func MemberName(n *js.DotExpr) string {
	switch y := n.Y.(type) {
	case js.LiteralExpr:
		return Unescape(y.Data)
	case *js.Var:
		return string(y.Data)
	}
	return ""
}
