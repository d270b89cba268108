// Runs in the helper's world, only after an operation has failed: finds the elements of
// the page that may have been meant. elements and selectors are the objects of elements.js
// and selectors.js, pageText is the function of evidence_text.js.
(() => {
  'use strict';
  const { is, around: closest, first, up, hit, target, unable, untypable, point, inView } = rote.inner;
  const { roots, findRoots, matches, testIds, actionable, read, editable, buttonInput, role, label, hide, setSecrets } = elements;
  const { selectorOf } = selectors;
  const maxElements = 15, maxText = 60;
  const maxJudged = 30; // of the likeliest candidates that are examined closely

  // The evidence of a page of any size is ready in time: after a minimum of work, each step
  // ends when its time is over.
  let end;
  const late = (done, enough) => done >= enough && performance.now() > end;

  // --- the words of the failed selector
  // spellings are synonyms that many sites use.
  const spellings = { btn: 'button', pwd: 'password', pw: 'password', img: 'image', qty: 'quantity',
    allow: 'accept', agree: 'accept', bag: 'cart', basket: 'cart',
    increase: 'plus', inc: 'plus', decrease: 'minus', dec: 'minus', dismiss: 'close', remove: 'delete', forward: 'next', back: 'previous', prev: 'previous' };
  const words = text => (text || '').replace(/([\p{Ll}\d])(?=\p{Lu})/gu, '$1 ').toLowerCase().split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean).slice(0, 20).map(w => spellings[w] ?? w);

  // wanted parses a selector: the words of its names, of which the last ones count most,
  // the tag, and the nearest ancestor that exists.
  function wanted(selector) {
    const parts = [{ at: 0, text: '' }];
    for (const t of selector.matchAll(/\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]?|\((?:[^()]|\([^)]*\)?)*\)?|[\s>+~,]+|[^\s>+~,[(]+/g)) {
      if (/^[\s>+~,]/.test(t[0])) parts.push({ at: t.index + t[0].length, text: '' });
      else parts.at(-1).text += t[0];
    }
    const w = { words: new Map(), tag: /^[a-z][\w-]*/i.exec(parts.at(-1).text)?.[0].toLowerCase() ?? '', scope: null };
    for (const p of parts.toReversed()) {
      const names = p.text.replace(/^[a-z][\w-]*/i, '').replace(/:[\w-]+(\([^)]*\))?/g, ' ').replace(/\[\s*[\w-]+\s*[~|^$*]?=?/g, ' ');
      const weight = w.words.size ? 0.4 : 1;
      for (const word of words(names)) w.words.set(word, w.words.get(word) ?? weight);
    }
    for (let i = parts.length - 1; i > 0 && !w.scope; i--) w.scope = matches(selector.slice(0, parts[i].at).replace(/[\s>+~,]+$/, ''))[0]?.e;
    return w;
  }

  // slips is the number of letters that are wrong, missing, added or swapped.
  function slips(a, b) {
    let older = [], old = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], older[j - 2] + 1);
      }
      [older, old] = [old, row];
    }
    return old[b.length];
  }

  // alike is 1 for the same word and less for an inflection or a misspelling of it.
  function alike(a, b) {
    if (a === b) return 1;
    const short = Math.min(a.length, b.length);
    if (short < 3 || Math.max(a.length, b.length) > 30) return 0;
    if (a.startsWith(b) || b.startsWith(a)) return 0.7;
    return short > 3 && slips(a, b) <= (short > 6 ? 2 : 1) ? 0.6 : 0;
  }

  // --- weighing
  // ending matches the labels of buttons that close overlays.
  const ending = new RegExp('^[×✕✖x]$|\\b(close|dismiss|accept|agree|allow|ok|okay|got it|no thanks|' +
    'schließen|akzeptieren|zustimmen|fermer|accepter|cerrar|aceptar)\\b', 'i');
  const modal = 'dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]';

  const inside = (e, box) => { for (let n = e; n; n = up(n) ?? n.ownerDocument.defaultView.frameElement) if (n === box) return true; return false; };
  const best = (word, of) => of.reduce((top, o) => Math.max(top, alike(word, o)), 0);

  // around are the names of the nearest ancestors of e.
  function around(e) {
    let names = '';
    for (let n = up(e), i = 0; n && i < 4; n = up(n), i++) names += ` ${read(n, 'id')} ${read(n, 'class')}`;
    return names;
  }

  // likeness is how well the names of e and its ancestors match the words of the selector.
  function likeness(e, w) {
    const called = words([read(e, 'id'), read(e, 'name'), read(e, 'class'), ...testIds.map(t => read(e, t))].join(' '));
    const above = words(around(e));
    const said = words([e.localName, role(e), label(e).slice(0, 200), read(e, 'href').slice(0, 200),
      read(e, 'type') || (e.localName === 'button' && e.form ? e.type : '')].join(' '));
    let points = 0;
    for (const [word, weight] of w.words) {
      points += weight * Math.max(3 * best(word, called), (weight < 1 ? 3 : 1) * best(word, above),
        2 * best(word, said) / (said.length > 8 ? 2 : 1));
    }
    return points;
  }

  // likest says which part of e resembles the words of the selector the most.
  function likest(e, w) {
    const parts = { id: read(e, 'id'), name: read(e, 'name'), 'test id': testIds.map(t => read(e, t)).join(' '), class: read(e, 'class'),
      text: label(e).slice(0, 200), address: read(e, 'href').slice(0, 200), surroundings: around(e) };
    let most = 0, which = 'kind';
    for (const [part, text] of Object.entries(parts)) {
      const own = words(text), points = [...w.words].reduce((sum, [word, weight]) => sum + weight * best(word, own), 0);
      if (points > most) [most, which] = [points, part];
    }
    return which;
  }

  // reads reports whether the operation accepts any element, visible or not.
  const reads = o => o.use === 'read';

  // named reports whether the selector resembles the id or name of e.
  function named(e, w) {
    const own = words(`${read(e, 'id')} ${read(e, 'name')}`);
    return [...w.words.keys()].some(word => best(word, own) > 0);
  }

  // suits is positive if e is of the kind that the operation acts on.
  function suits(e, use, isNamed = false) {
    // Most pages have a search, and few routines use it.
    const search = !isNamed && (e.type === 'search' || closest(e, '[role=search]')) ? -0.6 : 0;
    if (use === 'text') return (editable(e) ? 3 : -2) + search;
    if (use !== 'click') return 0;
    if (search) return 0;
    if (buttonInput(e) || /^(button|menuitem|tab|switch|checkbox|radio)$/.test(role(e))) return 1.2;
    return role(e) === 'link' ? 0.8 : 0;
  }

  // pool collects the elements to compare with the selector: its matches, those with
  // similar names, and those that can be actionable on.
  function pool(o, w, found) {
    const all = new Map(found.map(f => [f.e, f.root]));
    const add = (selector, max, fits = () => true) => {
      for (const root of roots) {
        for (const e of root.root.querySelectorAll(selector)) {
          if (max-- === 0 || late(all.size, 50)) return;
          if (!all.has(e) && fits(e)) all.set(e, root);
        }
      }
    };
    const of = (...names) => [...w.words.keys()].filter(word => word.length > 2).flatMap(word => names.map(n => `[${n}*="${word}" i]`)).join(',') || ':not(*)';
    const box = o.use === 'click' || o.use === 'text' ? actionable : ':not(*)'; // an element around those cannot be actionable on
    const alike = e => likeness(e, w) >= 2 && !first(e, box);
    add(of('id', 'name', ...testIds), 300, alike);
    if (reads(o)) { // then other elements count too, even if only half of the name is the same
      if (w.tag) add(w.tag, 300);
      add('[id],[class]', 1500, e => likeness(e, w) >= 0.5);
      add('main,article,section[id],table,ul[id],h1,output', 50);
    }
    add(actionable, 500);
    add(of('class'), 300, alike);
    const points = e => e && getComputedStyle(e).cursor === 'pointer';
    add('div,span,li,td,img,svg,p,i', 500, e => points(e) && !points(e.parentElement));
    return all;
  }

  // weigh assigns points to the pool.
  function weigh(o, w, found) {
    const list = [];
    for (const [e, { frames, where }] of pool(o, w, found)) {
      if (late(list.length, maxElements)) break;
      if (/^(html|body|head|script|style|link|meta|title|template)$/.test(e.localName)) continue;
      const match = found.some(f => f.e === e), within = w.scope && w.scope !== e && inside(e, w.scope);
      const like = likeness(e, w);
      const points = (match ? 10 : 0) + like + suits(e, o.use, named(e, w)) + (w.tag === e.localName ? 1.5 : 0) + (within ? 1.5 : 0)
        - (is(e, actionable) === reads(o) ? 0.5 : 0);
      list.push({ e, frames, where, match, points, akin: match || like >= 2 });
    }
    return list;
  }

  const order = (a, b) => b.points - a.points; // elements with equal points stay in document order

  // trouble is why a person could not act on e; null if there is no reason. An element that
  // only has to be scrolled to is fine.
  function trouble({ e, frames }, o) {
    const typing = o.use === 'text';
    const t = target(e, typing);
    const why = t.why || unable(e, typing) || (typing ? untypable(e) : null);
    if (why) return why;
    const r = t.e.getBoundingClientRect(), v = e.ownerDocument.defaultView;
    if (r.right + v.scrollX <= 0 || r.bottom + v.scrollY <= 0) return 'is outside the visible page';
    return /^is covered by/.test(point(t.e, frames).why) ? point(t.e, frames).why : null;
  }

  // lid is the whole overlay that covers e: the largest ancestor of the cover that does not
  // contain e.
  function lid({ e, frames }) {
    for (const n of [...frames, e]) {
      const r = n.getBoundingClientRect();
      let over = hit(n.ownerDocument, r.left + r.width / 2, r.top + r.height / 2);
      if (!over || inside(over, n) || inside(n, over)) continue;
      for (let above; (above = up(over)) && !inside(n, above);) over = above;
      return over;
    }
    return null;
  }

  // favour adds points that follow from the trouble of the matches: to elements in the
  // cover, to empty required fields, to elements with the same label.
  function favour(list) {
    for (const m of list.filter(c => c.match && c.trouble).slice(0, 3)) {
      const text = label(m.e), disabled = / disabled/.test(m.trouble), cover = /^is covered/.test(m.trouble) ? lid(m) : null;
      for (const c of list) {
        if (c.match) continue;
        const before = c.points;
        if (cover && (inside(c.e, cover) || closest(c.e, modal))) c.points += ending.test(label(c.e)) ? 8 : 6;
        if (disabled && c.e.form && c.e.form === m.e.form && is(c.e, ':invalid')) c.points += 6;
        if (text && text === label(c.e)) c.points += 5;
        c.akin ||= c.points > before;
      }
    }
  }

  // usableLater reports whether the trouble may end, unlike that of a trap.
  const usableLater = / (covered|disabled|read-only|inert|moving)/;
  // favourLikeTrap adds points to usable elements if the selector matches only invisible ones.
  function favourLikeTrap(list, trap, o) {
    const names = [read(trap, 'id'), read(trap, 'name'), read(trap, 'class'), label(trap), read(trap, 'type')].join(' ');
    const called = { words: new Map(words(names).map(w => [w, 1])) };
    for (const c of list) {
      if (c.match || c.trouble) continue;
      c.points += likeness(c.e, called) / 2 + (c.e.localName === trap.localName ? 1 : 0);
      c.akin ||= suits(c.e, o.use) > 0;
    }
  }

  const change = () => new Promise(done => {
    const finish = () => { clearTimeout(t); o.disconnect(); done(); };
    const o = new MutationObserver(finish), t = setTimeout(finish, 50);
    o.observe(document, { subtree: true, childList: true, attributes: true });
  });

  // outline lists the elements that may have been meant, the likeliest first. A selector
  // that matches nothing gets a little more time, to find an element that came too late for
  // the operation.
  async function outline(o) {
    const { longest } = setSecrets(o.secrets);
    findRoots();
    let found = o.selector ? matches(o.selector) : [];
    for (const until = performance.now() + o.grace; o.selector && !found.length && performance.now() < until;) {
      await change();
      found = matches(o.selector);
    }
    findRoots();
    end = performance.now() + o.budget;
    const list = !o.use ? [] : weigh(o, wanted(o.selector), found).sort(order).slice(0, maxJudged);
    end = performance.now() + o.budget;
    let judged = 0;
    for (const c of list) {
      if (late(judged++, maxElements)) break;
      c.trouble = trouble(c, o);
      if (c.trouble && !c.match) c.points -= 4;
      if (reads(o)) c.trouble = null;
      else if (!c.trouble && inView(c.e)) c.points += 0.5;
    }
    favour(list);
    const traps = list.filter(c => c.match);
    if (traps.length && traps.every(c => c.trouble && !usableLater.test(c.trouble))) favourLikeTrap(list, traps[0].e, o);
    end = performance.now() + o.budget;
    const listed = [];
    selectors.setHurry(performance.now() + o.budget / 2);
    for (const c of list.sort(order)) {
      if (listed.length === maxElements || late(listed.length, 3)) break;
      if (c.trouble === undefined) continue; // not examined
      if (c.trouble && !c.match && c.points < 2) continue; // hidden and not similar
      if (found.length && !c.akin) continue; // the selector has matches, so only related elements help
      const best = selectorOf(c.e);
      if (!best) continue;
      listed.push({ selector: best.selector, role: hide(role(c.e)).slice(0, 30), text: label(c.e).slice(0, maxText), where: hide(c.where),
        problem: hide(c.trouble ?? ''), matched: c.match, points: c.points });
    }
    end = performance.now() + o.budget / 3;
    return { title: document.title, elements: listed, ...pageText({ roots, late, hide, longest }, o.text) };
  }

  // resembling are the elements that resemble what the selector names, the likeliest first.
  function resembling(o) {
    end = performance.now() + o.budget;
    const w = wanted(o.selector);
    const list = weigh(o, w, matches(o.selector)).filter(c => c.akin).sort(order).slice(0, maxJudged);
    return list.map(({ e, points }) => ({ e, points, which: likest(e, w) }));
  }

  return { outline, resembling };
})()
