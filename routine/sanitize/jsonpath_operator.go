package sanitize

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strings"

	"rote/routine"
)

// equalValues reports whether two values in a filter are equal. Numbers are compared
// by value; objects and arrays are equal only to themselves.
func equalValues(left, right any) bool {
	if order, ok := compareValues(left, right); ok {
		return order == 0
	}
	switch l := left.(type) {
	case nil, bool, noValue, container:
		return l == right
	case json.Number: // too large to be compared
		return l == right
	}
	return false
}

// compareValues orders two numbers or two texts; false for other values.
func compareValues(left, right any) (order int, ok bool) {
	switch l := left.(type) {
	case string:
		r, ok := right.(string)
		return strings.Compare(l, r), ok
	case int64:
		switch r := right.(type) {
		case int64:
			return cmp.Compare(l, r), true
		case float64:
			return cmp.Compare(float64(l), r), true
		}
	case float64:
		switch r := right.(type) {
		case int64:
			return cmp.Compare(l, float64(r)), true
		case float64:
			return cmp.Compare(l, r), true
		}
	}
	l, ok := ratOf(left)
	if !ok {
		return 0, false
	}
	r, ok := ratOf(right)
	if !ok {
		return 0, false
	}
	return l.Cmp(r), true
}

// ratOf returns the exact value of a number.
func ratOf(v any) (*big.Rat, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case float64:
		r := new(big.Rat).SetFloat64(v)
		return r, r != nil
	case json.Number:
		return routine.ExactNumber(v)
	}
	return nil, false
}

// arithmetic applies an operator to each pair of values. The result is noValue for a
// pair to which the operator does not apply.
func (s *pathSearch) arithmetic(op string, left, right []any) []any {
	var all []any
	for _, l := range left {
		for _, r := range right {
			if s.step(1); len(all) == maxFilterValues {
				panic(pathStop{errFilterValues})
			}
			all = append(all, s.calculate(op, l, r))
		}
	}
	return all
}

func (s *pathSearch) calculate(op string, left, right any) any {
	if l, ok := left.(string); ok {
		r, ok := right.(string)
		if !ok || op != "+" {
			return noValue{}
		}
		if len(l)+len(r) > maxFilterText {
			panic(pathStop{errFilterText})
		}
		s.step((len(l) + len(r)) / 64)
		return l + r
	}
	l, whole := left.(int64)
	r, both := right.(int64)
	if whole && both {
		return calculateNumbers(op, l, r)
	}
	x, ok := floatOf(left)
	y, both := floatOf(right)
	if !ok || !both {
		return noValue{}
	}
	return calculateNumbers(op, x, y)
}

func calculateNumbers[N int64 | float64](op string, x, y N) any {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		return noValue{}
	}
	return x / y
}

func floatOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
