// Runs in the helper's world, on demand: describes the page as lines, one for each control,
// heading, text, list and table, with the selector to use in an operation. elements and
// selectors are the objects of elements.js and selectors.js, listsOf is the function of
// look_list.js.
(() => {
  'use strict';
  const { documentIn, every, first, flat, unable } = rote.inner;
  const { roots, findRoots, matches, actionable, testIds, read, is, editable, role, label, rendered, visible, textOf, plain,
    secretField, setSecrets } = elements;
  const { selectorOf } = selectors;
  const maxName = 60, maxValue = 30, maxOption = 24, maxTarget = 50, maxOptions = 6;
  const maxDepth = 300; // levels of elements
  const maxLines = 3000;
  const maxChildren = 2000; // of one element that are examined
  const maxNamed = 3000; // elements whose names are compared
  const maxTargetName = 80;
  const skipped = /^(script|style|noscript|template|svg|path|meta|link|head|title|br|hr|source|track|wbr|object|embed)$/;

  let o, lines, frames, end, partial, textRoom, omitted, words;
  function late() {
    const over = performance.now() > end || lines.length >= maxLines;
    partial ||= over;
    return over;
  }

  // --- regions: parts of the page, of which some matter more than others
  const regions = {
    main: 0, dialog: 2, alertdialog: 2, form: 0, search: 0, fieldset: 0, section: 0, region: 0, article: 0, alert: 6, status: 4,
    header: -2, banner: -2, nav: -5, navigation: -5, footer: -5, contentinfo: -5, aside: -5, complementary: -5,
  };
  let region = { weight: 0, dialog: false };
  let root = document; // that contains the element that is described
  const offScreen = e => e.getBoundingClientRect().top > innerHeight * 3 ? -1 : 0;

  // add appends a line. Its weight says how important it is. all is the text in which words
  // are searched, if it is more than what the line shows.
  function add(depth, line, weight, all = '') {
    const small = weight >= 10 ? region.weight / 2 : region.weight; // controls of a footer still count
    const hit = words.length > 0 && found([line.kind, line.name, line.target, line.detail, ...line.states ?? [], all].join(' '));
    lines.push({ depth, root, ...line, weight: region.dialog ? Math.max(14, weight) : weight + small, hit });
    return lines.at(-1);
  }

  const found = text => { text = text.toLowerCase(); return words.every(w => text.includes(w)); };

  // --- what a line says
  const shortPath = url => {
    try {
      const u = new URL(url, location.href);
      if (u.origin !== location.origin) return u.href;
      return u.pathname === location.pathname && u.search ? u.search : u.pathname + u.search;
    } catch { return url; }
  };
  const quoted = (text, max) => JSON.stringify(plain(elements.hide(text ?? ''), max));
  const nameOf = e => plain(label(e, e => textOf(e, 4 * maxName)), o.scope ? 4 * maxName : maxName);

  const kinds = { a: 'link', textarea: 'text', summary: 'button', iframe: 'frame', frame: 'frame' };
  function kindOf(e) {
    const role = plain(read(e, 'role').split(' ')[0], 20);
    if (/^[a-z]+$/.test(role)) return role;
    if (e.localName !== 'input') return kinds[e.localName] ?? (e.isContentEditable ? 'text' : plain(e.localName, 30));
    return /^(submit|button|reset|image)$/.test(e.type) ? 'button' : e.type;
  }

  function valueStates(e) {
    if (e.localName === 'select') {
      const options = [...e.options].slice(0, maxOptions).map(x => quoted(x.label, maxOption));
      if (e.options.length > maxOptions) options.push('… +' + (e.options.length - maxOptions));
      const chosen = e.selectedIndex > 0 ? [`value ${quoted(e.selectedOptions[0]?.label, maxValue)}`] : [];
      return [...chosen, `[${options.join(' | ')}]`];
    }
    if (!/^(input|textarea)$/.test(e.localName) || /^(checkbox|radio|submit|button|reset|image|file|password)$/.test(e.type)) return [];
    const states = e.value && !secretField(e) ? [`value ${quoted(e.value, maxValue)}`] : [];
    if (e.min || e.max) states.push(`${plain(e.min, 12)}…${plain(e.max, 12)}`);
    return states;
  }

  function statesOf(e) {
    const states = [];
    if (e.required) states.push('required');
    if (e.checked || read(e, 'aria-checked') === 'true') states.push('checked');
    const why = unable(e, editable(e));
    if (why) states.push(/read-only/.test(why) ? 'read-only' : 'disabled');
    if (read(e, 'aria-selected') === 'true' || e.hasAttribute('aria-current') && read(e, 'aria-current') !== 'false') states.push('current');
    if (e.hasAttribute('aria-expanded')) states.push(read(e, 'aria-expanded') === 'true' ? 'expanded' : 'collapsed');
    return [...states, ...valueStates(e)];
  }

  function targetOf(e, selector) {
    const href = read(e, 'href');
    if (e.localName !== 'a' || !href || /^(#|javascript:)/i.test(href) || selector.includes('[href=')) return '';
    return plain(elements.hide(shortPath(e.href)), maxTarget);
  }

  // byName names e by its role and name if no other visible element has both, for an element
  // that only its place tells apart.
  let names = null;
  function byName(e) {
    names ??= countNames();
    const key = nameKey(e);
    return names.get(key) === 1 && !key.includes('***') ? { role: plain(role(e), 30), name: plain(label(e), maxTargetName) } : undefined;
  }

  const nameKey = e => role(e) + '\n' + label(e);
  function countNames() {
    const counts = new Map();
    let left = maxNamed;
    for (const { root } of roots) for (const e of root.querySelectorAll(actionable)) {
      if (left-- <= 0 || performance.now() > end) return new Map(); // no name is known to be unique
      if (!label(e) || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      counts.set(nameKey(e), (counts.get(nameKey(e)) ?? 0) + 1);
    }
    return counts;
  }

  const field = e => editable(e) || /^(checkbox|radio|file|range|color|switch|slider|combobox|textbox|searchbox|spinbutton)$/.test(kindOf(e));
  const controlWeight = (e, kind) => field(e) ? 12 : kind === 'link' ? 6 : 11;

  function control(e, depth) {
    if (!visible(e)) return;
    const best = selectorOf(e), kind = kindOf(e), states = statesOf(e);
    const weight = controlWeight(e, kind) + offScreen(e) - (states.includes('disabled') ? 2 : 0);
    const all = words.length && e.localName === 'select' ? [...e.options].map(x => x.label).join(' ') : '';
    const selector = best?.selector ?? '', alternatives = window === top ? undefined : selectors.alternativesOf(e);
    add(depth, { kind, name: nameOf(e), states, target: targetOf(e, selector), selector, grade: best?.grade ?? '',
      by_name: best?.grade === 'D' && window === top ? byName(e) : undefined,
        href: kind === 'link' ? e.href : undefined, alternatives }, weight, words.length ? `${label(e)} ${all}` : '');
  }

  // --- parts of the page

  function frame(e, depth, level) {
    if (!visible(e)) return;
    const inner = documentIn(e), best = selectorOf(e), src = read(e, 'src');
    const where = e.hasAttribute('srcdoc') || !src ? 'about:srcdoc' : shortPath(src).split('?')[0];
    const name = plain(elements.hide(read(e, 'title') || read(e, 'name')), 40), note = inner ? '' : ' (another origin)';
    add(depth, { kind: 'frame', name, detail: plain(elements.hide(where), maxTarget) + note,
      selector: best?.selector ?? '', grade: best?.grade ?? '', frame: inner ? undefined : frames.push(e) }, 8);
    if (inner?.body) walk(inner.body, depth + 1, level + 1);
  }

  function heading(e, depth) {
    const name = plain(textOf(e, 200), o.scope ? 300 : 90);
    if (name) add(depth, { kind: /^h\d$/.test(e.localName) ? e.localName : 'heading', name }, 8 + offScreen(e));
    for (const c of e.querySelectorAll(actionable)) if (!c.parentElement.closest(actionable)) control(c, depth + 1);
  }

  function canvas(e, depth) {
    const r = e.getBoundingClientRect();
    if (r.width * r.height < 0.2 * innerWidth * innerHeight) return;
    add(depth, { kind: 'canvas', detail: `${Math.round(r.width)}×${Math.round(r.height)}: not readable; take a screenshot` }, 6);
  }

  const ownText = e => [...flat(e)].filter(n => n.nodeType === Node.TEXT_NODE).slice(0, 50).map(n => n.data.slice(0, 500)).join(' ');
  const blocks = 'h1,h2,h3,h4,ul,ol,table,iframe,p,div,form,section,article,button,input:not([type=hidden]),select,textarea';

  // results matches elements that may hold what a routine returns.
  const results = 'output,[role=status],[role=alert],[itemprop],[id],' + testIds.map(t => `[${t}]`).join(',');

  // lasting is the selector of a text that a routine may return, if it lasts.
  function lasting(e) {
    const best = is(e, results) ? selectorOf(e) : null;
    return best?.grade === 'A' ? { selector: best.selector, grade: 'A', alternatives: window === top ? undefined : selectors.alternativesOf(e) } : {};
  }

  // addResults appends the parts of a text that a routine may return.
  function addResults(e, depth) {
    for (const part of every(e, results).slice(0, 20)) {
      const found = is(part, actionable) || !rendered(part) ? {} : lasting(part), shown = found.selector && textOf(part, 200);
      if (shown) add(depth, { kind: 'text', name: plain(shown, 120), ...found }, 5);
    }
  }

  // isContent reports whether a text is more than a separator between others, such as "|".
  const isContent = shown => shown.length > 1 || /[\p{L}\p{N}]/u.test(shown);

  // text appends the text of an element that has some itself, and reports whether that is
  // all that is in the element.
  function text(e, depth) {
    if (is(e, 'label,legend,option') || !ownText(e).trim()) return false;
    const max = o.scope ? 300 : 120, mixed = e.querySelector(blocks) || e.shadowRoot;
    const shown = mixed ? elements.hide(ownText(e)) : textOf(e, 4 * max);
    const r = e.getBoundingClientRect();
    const apparent = getComputedStyle(e).visibility === 'visible' && r.right + scrollX > 0 && r.bottom + scrollY > 0;
    const says = apparent && isContent(plain(shown, max));
    if (says && textRoom <= 0 && !words.length) omitted++;
    else if (says) {
      textRoom -= Math.min(shown.length, max);
      const weight = 2 + (/\d/.test(shown) ? 1 : 0) + (shown.length < 80 ? 1 : 0);
      add(depth, { kind: isMessage(e) ? read(e, 'role') : 'text', name: plain(shown, max), ...lasting(e) },
        weight + offScreen(e), words.length ? textOf(e, 3000) : '');
      if (!mixed) addResults(e, depth + 1);
    }
    return !mixed && !e.querySelector(actionable);
  }

  // isMessage reports whether e is an alert or a status that is only a text.
  const isMessage = e => /^(alert|status)$/.test(read(e, 'role')) && !first(e, blocks) && ownText(e).trim() !== '';

  // regionName is what a region is called; a dialog also by its heading.
  function regionName(e, dialog) {
    const by = read(e, 'aria-labelledby').split(/\s+/)[0], named = by && e.getRootNode().getElementById?.(by);
    const inside = e.querySelector(dialog ? 'h1,h2,h3,h4,[role=heading]' : ':scope > legend');
    return plain(elements.hide(read(e, 'aria-label') || named?.textContent || inside?.textContent || ''), 40);
  }

  // enter begins a region if e is one, and returns the depth of what is in it.
  function enter(e, depth) {
    const role = read(e, 'role'), kind = Object.hasOwn(regions, role) ? role : e.localName;
    if (!Object.hasOwn(regions, kind)) return depth;
    const dialog = /dialog/.test(kind), name = regionName(e, dialog);
    region = { weight: Math.min(region.weight, 0) + regions[kind], dialog: region.dialog || dialog };
    if (/^(section|region|article)$/.test(kind) && !name || isMessage(e)) return depth;
    const best = dialog || /^(form|search|fieldset)$/.test(kind) ? selectorOf(e) : null;
    const method = plain(read(e, 'method') || 'get', 8).toUpperCase(), to = e.localName === 'form' ? read(e, 'action') : '';
    const action = to && `${method} ${plain(elements.hide(shortPath(to)), 40)}`;
    add(depth, { kind, name, detail: action, selector: best?.selector ?? '', grade: best?.grade ?? '', holder: !best }, best ? 10 : 5);
    return depth + 1;
  }

  // children are the elements that are rendered in e.
  function children(e) {
    const found = [];
    for (const n of flat(e)) {
      if (n.nodeType !== Node.ELEMENT_NODE) continue;
      if (found.length >= maxChildren) { partial = true; break; }
      found.push(n);
    }
    return found;
  }

  const wanted = text => words.length > 0 && found(text);
  const setRoot = e => root = e.getRootNode();
  const lists = listsOf({ add, control, walk, children, kindOf, nameOf, valueStates, shortPath, setRoot, late, wanted, detailed: () => !!o.scope });

  // isContainer reports whether e only takes the focus, as a part of the page that scrolls does.
  const isNative = e => is(e, 'a,button,input,select,textarea,summary,[role],[contenteditable]');
  const isContainer = e => !isNative(e) && !is(e, '[onclick]') && e.querySelector(blocks) !== null;

  const walkAll = (e, depth, level) => { for (const c of children(e)) walk(c, depth, level + 1); };

  // walk describes e and what is in it. A form whose fields hide what walk needs of it, or an
  // element that is removed meanwhile, is left out.
  function walk(e, depth, level) {
    const before = { region, root };
    try {
      root = e.getRootNode();
      describe(e, depth, level);
    } catch {
      partial = true;
    }
    ({ region, root } = before);
  }

  function describe(e, depth, level) {
    partial ||= level > maxDepth;
    if (late() || level > maxDepth || skipped.test(e.localName)) return;
    if (/^(iframe|frame)$/.test(e.localName)) return frame(e, depth, level);
    if (is(e, actionable) && !isContainer(e)) {
      control(e, depth);
      if (e.querySelector(isNative(e) ? 'input,select,textarea,button,a[href]' : blocks)) walkAll(e, depth, level);
      return;
    }
    if (!rendered(e)) return;
    if (e.localName === 'canvas') return canvas(e, depth);
    if (/^h[1-6]$/.test(e.localName) || read(e, 'role') === 'heading') return heading(e, depth);
    if (e.localName === 'table' && lists.table(e, depth)) return;
    const inside = enter(e, depth);
    if (!lists.list(e, inside, level) && !text(e, inside)) {
      const parts = children(e);
      for (const c of parts) walk(c, inside, level + 1);
      if (!parts.length && e.localName.includes('-') && !e.shadowRoot && e.matches(':defined') && e.getBoundingClientRect().height > 20) {
        add(inside, { kind: 'text', detail: '(closed component)' }, 3);
      }
    }
  }

  // --- the whole

  function prepare(options) {
    o = options;
    lines = []; frames = []; partial = false; names = null; omitted = 0;
    globalThis.roteLookFrames = frames;
    textRoom = o.scope ? 12000 : 2500;
    words = (o.find ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    end = performance.now() + o.budget;
    selectors.setHurry(performance.now() + o.budget / 2);
    setSecrets(o.secrets);
    findRoots();
    elements.noteChoices();
  }

  // look describes the page, or the first match of o.scope. missing reports that nothing
  // matches.
  function look(options) {
    prepare(options);
    const start = o.scope ? matches(o.scope)[0]?.e : document.body ?? document.documentElement;
    if (!start) return { missing: true };
    walk(start, 0, 0);
    const scroller = document.scrollingElement, open = lines.find(l => /dialog/.test(l.kind));
    return { url: location.href, title: plain(elements.hide(document.title), maxName), partial, omitted, dialog: open?.name ?? '',
      lines: withRoots(withoutRepetitions(lines), start.getRootNode()),
      scrolled: Math.round(scroller?.scrollTop ?? 0), height: Math.round(scroller?.scrollHeight ?? 0), window: innerHeight };
  }

  // withoutRepetitions drops a link that says the same as the line before, as a picture and
  // a title with the same link do, and regions without contents.
  function withoutRepetitions(all) {
    const same = (a, b) => a && b.href && a.href === b.href && a.name === b.name && a.depth === b.depth;
    const kept = all.filter((l, i) => !same(all[i - 1], l));
    return kept.filter((l, i) => !l.holder || kept[i + 1]?.depth > l.depth);
  }

  // border says what lies between two roots that no selector reaches across: the component
  // whose shadow root to is, or that into which elements of to are slotted. It is undefined
  // if they are the same, and for a frame, which has a line of its own.
  function border(from, to) {
    const line = (kind, host) => ({ kind, detail: `<${plain(host.localName, 30)}>`, weight: 1 });
    if (from === to) return undefined;
    for (let n = from; n.host; n = n.host.getRootNode()) if (n.host.getRootNode() === to) return line('slotted in', n.host);
    return to.host && line('component', to.host);
  }

  // withRoots adds a line around those that are in another root than the line around them.
  // outer is the root of the whole.
  function withRoots(all, outer) {
    const shown = [], open = [{ depth: -1, shift: 0, root: outer }]; // open are the lines around the next one
    for (const { root, ...l } of all) {
      while (open.at(-1).depth >= l.depth) open.pop();
      const around = open.at(-1), line = border(around.root, root), key = line && line.kind + line.detail;
      if (line && around.key !== key) shown.push({ depth: l.depth + around.shift, ...line });
      around.key = key;
      const shift = around.shift + (line ? 1 : 0);
      shown.push({ ...l, depth: l.depth + shift });
      open.push({ depth: l.depth, shift, root });
    }
    return shown;
  }

  function extract(options) {
    prepare(options);
    return lists.extract(o.extract);
  }

  // rows are the JSON of the first objects that read returns, with short texts and without
  // secrets.
  function rows(secrets, read) {
    setSecrets(secrets);
    const short = v => typeof v === 'string' ? plain(elements.hide(v), maxName) : null;
    return read().slice(0, 3).map(row => JSON.stringify(Object.fromEntries(Object.entries(row).map(([k, v]) => [k, short(v)]))));
  }

  // listAround is the selector of the items of the list, or of the table, that e is in; '' if it
  // is in neither.
  function listAround(options, e) {
    prepare(options);
    return lists.listAround(e);
  }

  return { look, extract, rows, listAround };
})()
