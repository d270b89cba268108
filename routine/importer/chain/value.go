package chain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a value.
type Kind int

// The kinds of values.
const (
	Unknown Kind = iota
	Text
	Template // a string with expressions: Parts
	Number
	Pattern
	Object
	List
	Calls
	Function
	Sum    // values that are joined: Parts
	Choice // a value, or another one if it is missing: Parts
)

// Value is an expression.
type Value struct {
	Kind  Kind
	Text  string // of a text, number or pattern; of other kinds the source
	Flags string
	// Parts are the parts of a template, a sum or a choice, and the items of a list.
	Parts  []Value
	Fields []Field
	// Calls is the chain of a value of that kind, or of an object the class and what it is made with.
	Calls *Chain
	// Body are the statements of a function with a block; Result is the value of one without.
	Body         *Block
	Result       *Value
	Params       string // the parameters of a function
	Line, Column int
}

// Field is a member of an object, or a named argument.
type Field struct {
	Name  string
	Value Value
}

// Get returns the value of a field; nil if there is none.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i].Value
		}
	}
	return nil
}

// Is reports whether the value is this name, such as true.
func (v *Value) Is(name string) bool {
	return v != nil && v.Kind == Calls && len(v.Calls.Members) == 0 && strings.EqualFold(v.Calls.Base, name)
}

// Chain is a name and what follows it: members, calls and indexes.
type Chain struct {
	Base    string
	Await   bool
	Members []Member
}

// Member is one member of a chain. Index is set for one in brackets.
type Member struct {
	Name         string
	Called       bool
	Index        bool
	Args         []Value
	Line, Column int
	open         int // offset of the bracket
}

// Last returns the last member; an empty one if there is none.
func (c *Chain) Last() Member {
	if len(c.Members) == 0 {
		return Member{}
	}
	return c.Members[len(c.Members)-1]
}

// normal returns a name as JavaScript writes it: get_by_role and GetByRoleAsync are getByRole.
func normal(name string, language Language) string {
	switch language {
	case Python:
		parts := strings.Split(strings.TrimLeft(name, "_"), "_")
		for i := 1; i < len(parts); i++ {
			if parts[i] = upper(parts[i]); parts[i] == "Url" {
				parts[i] = "URL"
			}
		}
		return strings.Join(parts, "")
	case CSharp:
		if name != "Async" {
			name = strings.TrimSuffix(name, "Async")
		}
		r, size := utf8.DecodeRuneInString(name)
		if name == strings.ToUpper(name) {
			return name
		}
		return string(unicode.ToLower(r)) + name[size:]
	}
	return name
}

func upper(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return name
	}
	return string(unicode.ToUpper(r)) + name[size:]
}
