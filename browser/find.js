// Runs in the helper's world, on demand: finds the elements that could take the place of one
// that an operation no longer finds. elements, selectors, described and evidence are the
// objects of elements.js, selectors.js, describe.js and evidence.js.
(() => {
  'use strict';
  const { all, up, target } = rote.inner;
  const { is, editable, role, label, plain, hide } = elements;
  const { selectorOf, alternativesOf } = selectors;
  const maxName = 80, maxFound = 20;

  // fits reports whether the operation could act on e.
  const fits = (e, use) => use === 'read' || !target(e, use === 'text').why && (use !== 'text' || editable(e));

  // holder is the selector of the nearest form, list, table or dialog around e.
  function holder(e) {
    for (let n = up(e); n; n = up(n)) {
      if (is(n, 'form,dialog,[role=dialog],[role=alertdialog],ul,ol,table,[role=list],[role=grid]')) return selectorOf(n)?.selector ?? '';
    }
    return '';
  }

  function matchesOf(selector) {
    try { return all(selector, 2).map(f => f.e); } catch { return []; } // not a selector
  }

  // find returns the candidates of this view. counts are how many elements each of the
  // alternatives matches, 2 if they are more, named is how many have the name of the target.
  function find(o) {
    described.prepare(o);
    const found = new Map();
    const add = (e, facts) => {
      const on = described.retarget(e, o.use);
      if (found.size >= 2 * maxFound && !found.has(on) || !fits(on, o.use)) return;
      found.set(on, { alternative: -1, ...found.get(on), ...facts });
    };
    const counts = o.alternatives.map((selector, alternative) => {
      const matches = matchesOf(selector);
      if (matches.length === 1 && (found.get(matches[0])?.alternative ?? -1) < 0) add(matches[0], { alternative });
      return matches.length;
    });
    const named = described.withTarget(o.target);
    if (named.length === 1) add(named[0], { same_target: true });
    else if (!named.length && o.target.near) {
      for (const e of described.withTarget({ ...o.target, near: '' }).slice(0, 3)) {
        add(e, { why: 'the same role and name, without the text near it', resemblance: 0 });
      }
    }
    if (o.lost) {
      const lost = { selector: o.lost, use: o.use, budget: o.budget };
      for (const { e, points, which } of evidence.resembling(lost)) add(e, { resemblance: Math.round(points), why: 'similar ' + which });
    }
    const candidates = [...found].map(([e, facts]) => {
      const best = selectorOf(e), proposals = [...best ? [best] : [], ...alternativesOf(e)].map(({ selector, grade }) => ({ selector, grade }));
      return { ...facts, proposals, role: plain(hide(role(e)), 30), name: plain(label(e), maxName), form: holder(e) };
    });
    return { candidates, counts, named: named.length };
  }

  return { find };
})()
