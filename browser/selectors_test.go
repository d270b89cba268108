package browser

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
)

//go:embed testdata/former_selectors.js
var formerSelectors string

// The least share of selectors that still match their element alone after a redesign.
const (
	minSurvival       = 0.80
	minSurvivalGradeA = 0.97
)

// sequence makes numbers that look random and are the same in each run: the figures of
// these tests are compared with those of other versions.
type sequence uint64

// IntN returns a number from 0 to n-1.
func (s *sequence) IntN(n int) int {
	*s = *s*6364136223846793005 + 1442695040888963407
	return int(*s>>33) % n
}

// survival counts the selectors that were generated and those that survive.
type survival struct {
	All, Survived int
	Lost          []string // examples of those that do not
}

func (s survival) rate() float64 { return float64(s.Survived) / float64(max(1, s.All)) }

func (s *survival) add(o survival) {
	s.All += o.All
	s.Survived += o.Survived
	if len(s.Lost) < 8 {
		s.Lost = append(s.Lost, o.Lost...)
	}
}

// redesign is a function that generates selectors for the controls of a page in both ways,
// renames 30 % of the class names and 10 % of the ids, wraps 3 % of the elements, adds
// siblings to 4 %, and counts the selectors that still match their element alone.
const redesign = `(seed => {
  elements.findRoots();
  const former = %s;
  let state = seed;
  const chance = () => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const all = [...document.querySelectorAll('a[href],button,input,select,textarea')];
  const sample = all.map(e => ({ e, now: selectors.selectorOf(e), before: former(e) }));
  const names = new Map(), rename = (kind, name, share) => {
    const key = kind + name;
    if (!names.has(key)) names.set(key, chance() < share ? 'zz' + Math.floor(chance() * 1e6) : name);
    return names.get(key);
  };
  const elementsInBody = [...document.body.querySelectorAll('*')];
  for (const e of elementsInBody) {
    for (const c of [...e.classList]) e.classList.replace(c, rename('.', c, 0.3));
    if (e.id) e.id = rename('#', e.id, 0.1);
  }
  for (const e of elementsInBody) {
    const x = chance();
    if (x < 0.03 && /^(div|ul|p|span|section|a)$/.test(e.localName)) {
      const wrapper = document.createElement('div');
      e.replaceWith(wrapper);
      wrapper.append(e);
    } else if (x < 0.07) {
      const sibling = document.createElement(/^(li|a)$/.test(e.localName) ? e.localName : 'div');
      sibling.textContent = 'new';
      e.before(sibling);
    }
  }
  const counts = {}, count = (kind, e, selector) => {
    const found = selector ? document.querySelectorAll(selector) : [], c = counts[kind] ??= { All: 0, Survived: 0, Lost: [] };
    c.All++;
    if (found.length === 1 && found[0] === e) c.Survived++;
    else c.Lost.push(selector);
  };
  for (const { e, now, before } of sample) {
    count('now', e, now?.selector);
    count('before', e, before);
    count(now?.grade ?? 'none', e, now?.selector);
  }
  return counts;
})`

// designedPage is a page as one of several kinds of sites builds it.
func designedPage(r *sequence, kind int) string {
	hash := func() string {
		return fmt.Sprintf("%c%c%d%c%d", 'a'+r.IntN(26), 'A'+r.IntN(26), r.IntN(10), 'a'+r.IntN(26), r.IntN(100))
	}
	word := func() string {
		words := strings.Fields("account basket checkout delivery email filter gallery history invoice journal " +
			"label message number order profile region search ticket user voucher")
		return words[r.IntN(len(words))]
	}
	class := func(name string) string {
		switch kind {
		case 0: // names by hand
			return fmt.Sprintf(`class="%s"`, name)
		case 1: // CSS modules
			return fmt.Sprintf(`class="Shop_%s__%s"`, name, hash())
		case 2: // utilities
			return []string{`class="flex p-4 text-sm"`, `class="mt-2 rounded bg-blue"`, `class="grid gap-2"`}[r.IntN(3)]
		default: // generated
			return fmt.Sprintf(`class="css-%s"`, hash())
		}
	}
	id := func(name string) string {
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf(` id="%s-%s"`, word(), name)
		case 1:
			return fmt.Sprintf(` id=":r%x:"`, r.IntN(100))
		}
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<header %s><a href="/" %s>Home</a><nav %s>`, class("header"), class("logo"), class("menu"))
	for n := range 6 {
		fmt.Fprintf(&b, `<a %s href="/%s/%d">%s</a>`, class("link"), word(), n, word())
	}
	fmt.Fprintf(&b, `</nav><button %s%s>Menu</button></header><main %s><form%s %s>`, class("toggle"), id("menu"), class("content"), id("form"), class("form"))
	for n := range 5 {
		attribute := fmt.Sprintf(`name="%s%d"`, word(), n)
		if r.IntN(4) == 0 {
			attribute = []string{fmt.Sprintf(`placeholder="Your %s"`, word()), `type=text`}[r.IntN(2)]
		}
		fmt.Fprintf(&b, `<div %s><label>%s <input %s %s%s></label></div>`, class("row"), word(), attribute, class("input"), id("field"))
	}
	fmt.Fprintf(&b, `<button type=submit %s>Send</button><button type=button %s>Cancel</button></form><section %s>`,
		class("primary"), class("secondary"), class("cards"))
	for n := range 8 {
		fmt.Fprintf(&b, `<article %s id="product-%d"><div %s><div><a href="/item/%s-%d">%s</a></div>
<div %s><button %s>Add</button><button %s>Compare</button></div></div></article>`,
			class("card"), 10000+r.IntN(90000), class("body"), word(), n, word(), class("actions"), class("add"), class("compare"))
	}
	fmt.Fprintf(&b, `</section></main><footer %s>`, class("footer"))
	for range 5 {
		href := "#"
		if r.IntN(2) == 0 {
			href = "/about/" + word()
		}
		fmt.Fprintf(&b, `<div %s><div><a %s href="%s">%s</a></div></div>`, class("column"), class("small"), href, word())
	}
	return b.String() + `</footer>`
}

// Most selectors survive a redesign, and the grade of a selector says how likely that is.
func TestSelectorsSurviveARedesign(t *testing.T) {
	t.Parallel()
	const count = 24
	pages := map[string]any{}
	r := new(sequence)
	for n := range count {
		pages[fmt.Sprintf("/%d", n)] = designedPage(r, n%4)
	}
	url := site(t, pages)
	p := openPage(t, "")
	total := map[string]*survival{}
	for n := range count {
		if _, err := p.Navigate(testContext(t), fmt.Sprintf("%s/%d", url, n)); err != nil {
			t.Fatal(err)
		}
		counts, err := inHelper[map[string]survival](testContext(t), p, withElements(fmt.Sprintf(redesign, formerSelectors)), 12345+n)
		if err != nil {
			t.Fatal(err)
		}
		for kind, c := range counts {
			if total[kind] == nil {
				total[kind] = &survival{}
			}
			total[kind].add(c)
		}
	}
	for _, kind := range []string{"now", "before", "A", "B", "C", "D", "none"} {
		if s := total[kind]; s != nil {
			t.Logf("%-6s %4d selectors, %.1f %% survive; not %q", kind, s.All, 100*s.rate(), s.Lost[:min(len(s.Lost), 8)])
		}
	}
	if now := total["now"]; now.rate() < minSurvival || now.rate() <= total["before"].rate() {
		t.Errorf("%.3f survive, want %.2f and more than the %.3f of the former generator", now.rate(), minSurvival, total["before"].rate())
	}
	if a := total["A"]; a.rate() < minSurvivalGradeA {
		t.Errorf("%.3f of grade A survive, want %.2f", a.rate(), minSurvivalGradeA)
	}
}
