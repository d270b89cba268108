package browserstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"rote/routine"
)

// Merge returns what is to be stored after a run that started with base and ended with mine,
// while others have stored a state meanwhile: stored with what the run has changed, added and
// removed. Cookies are the same by name, host or domain, path and partition, and entries of local
// storage by origin and key.
func Merge(base, mine, stored *State) (*State, error) {
	merged := &State{Cookies: mergeLists(base.Cookies, mine.Cookies, stored.Cookies, (*Cookie).identity, sameCookie)}
	bases, err := origins(base)
	if err != nil {
		return nil, err
	}
	mines, err := origins(mine)
	if err != nil {
		return nil, err
	}
	stores, err := origins(stored)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, of := range []*State{stored, mine} {
		for _, o := range of.Storage {
			if names[o.Origin] {
				continue
			}
			names[o.Origin] = true
			items := mergeLists(bases[o.Origin], mines[o.Origin], stores[o.Origin], (*item).key, sameItem)
			if len(items) == 0 {
				continue
			}
			text, err := routine.EncodeJSON(items)
			if err != nil {
				return nil, fmt.Errorf("encode the storage of %s: %w", o.Origin, err)
			}
			merged.Storage = append(merged.Storage, Origin{o.Origin, text})
		}
	}
	return merged, nil
}

// Same reports whether two states have the same cookies and local storage, in any order.
// Sites that renew a cookie on each request change when it expires, which counts.
func Same(a, b *State) (bool, error) {
	if !sameLists(a.Cookies, b.Cookies, (*Cookie).identity, sameCookie) {
		return false, nil
	}
	as, err := origins(a)
	if err != nil {
		return false, err
	}
	bs, err := origins(b)
	if err != nil {
		return false, err
	}
	if len(as) != len(bs) {
		return false, nil
	}
	for name, items := range as {
		if !sameLists(items, bs[name], (*item).key, sameItem) {
			return false, nil
		}
	}
	return true, nil
}

// mergeLists merges three lists of values that key identifies.
func mergeLists[T any](base, mine, stored []T, key func(*T) string, same func(a, b *T) bool) []T {
	before, after := byKey(base, key), byKey(mine, key)
	changed := func(k string) bool {
		a, b := before[k], after[k]
		return (a == nil) != (b == nil) || a != nil && !same(a, b)
	}
	var merged []T
	placed := map[string]bool{}
	for i := range stored {
		k := key(&stored[i])
		switch {
		case placed[k]:
		case !changed(k):
			merged = append(merged, stored[i])
		case after[k] != nil:
			merged = append(merged, *after[k])
		}
		placed[k] = true
	}
	for i := range mine {
		if k := key(&mine[i]); !placed[k] && changed(k) {
			merged = append(merged, mine[i])
			placed[k] = true
		}
	}
	return merged
}

func sameLists[T any](a, b []T, key func(*T) string, same func(a, b *T) bool) bool {
	as, bs := byKey(a, key), byKey(b, key)
	for k, v := range as {
		if bs[k] == nil || !same(v, bs[k]) {
			return false
		}
	}
	return len(as) == len(bs)
}

func byKey[T any](list []T, key func(*T) string) map[string]*T {
	m := make(map[string]*T, len(list))
	for i := range list {
		m[key(&list[i])] = &list[i]
	}
	return m
}

func (c *Cookie) identity() string {
	return fmt.Sprintf("%q %t %q %q %s", c.Name, c.Domain != "", c.Host(), c.Path, c.PartitionKey)
}

// sameCookie compares two cookies of one identity. A browser adds fields such as the priority
// when it restores a cookie, and does not keep fractions of a second exactly.
func sameCookie(a, b *Cookie) bool {
	return a.Value == b.Value && a.Secure == b.Secure && a.HTTPOnly == b.HTTPOnly && a.SameSite == b.SameSite && math.Abs(a.Expires-b.Expires) < 1
}

// item is an entry of local storage: its key and value as JSON texts.
type item [2]json.RawMessage

func (i *item) key() string { return string(i[0]) }

func sameItem(a, b *item) bool { return bytes.Equal(a[1], b[1]) }

// origins returns the entries of local storage by origin.
func origins(s *State) (map[string][]item, error) {
	m := map[string][]item{}
	for _, o := range s.Storage {
		var items []item
		if err := json.Unmarshal(o.Items, &items); err != nil {
			return nil, fmt.Errorf("read the storage of %s: %w", o.Origin, err)
		}
		if slices.ContainsFunc(items, func(i item) bool { return !isText(i[0]) || !isText(i[1]) }) {
			return nil, fmt.Errorf("read the storage of %s: an entry is not a pair of texts", o.Origin)
		}
		m[o.Origin] = items
	}
	return m, nil
}

func isText(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte{'"'}) }
