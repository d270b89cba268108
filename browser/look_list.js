// Runs in the helper's world, on demand: recognizes lists of alike items and tables, and
// describes each as one entry with its fields. look.js calls it with functions that add
// lines; elements and selectors are the objects of elements.js and selectors.js.
look => {
  'use strict';
  const { add, control, walk, children, kindOf, nameOf, valueStates, shortPath, setRoot, late, wanted, detailed } = look;
  const { roots, actionable, read, is, rendered, visible, textOf, plain, hide, secretField } = elements;
  const { tokensOf, selectorOf, placeOf, generated, isState, isUtility } = selectors;
  const minItems = 4, minLinks = 8, maxFields = 8, maxSample = 30, maxShown = 6;
  const minAlike = 0.45; // mean similarity of the items of a list
  const skipped = /^(script|style|noscript|template|svg|path|meta|link|br|hr)$/;

  // --- which children are a list

  const signature = e => e.localName + '.' + [...e.classList].filter(c => !generated(c) && !isState(c) && !isUtility(c)).sort().slice(0, 2).join('.');

  // largest is the largest group of elements with the same key.
  function largest(all, key) {
    const groups = new Map();
    for (const e of all) {
      const k = key(e);
      if (!groups.has(k)) groups.set(k, []);
      groups.get(k).push(e);
    }
    return [...groups.values()].sort((a, b) => b.length - a.length)[0] ?? [];
  }

  // skeleton is the set of the paths to the elements in e, which says how it is built.
  function skeleton(e) {
    const paths = new Set();
    const visit = (n, path, depth) => {
      for (const c of [...n.children].slice(0, 20)) {
        if (skipped.test(c.localName)) continue;
        const p = path + '>' + signature(c);
        paths.add(p);
        if (depth < 3) visit(c, p, depth + 1);
      }
    };
    visit(e, '', 0);
    return paths;
  }

  function similarity(items) {
    const all = items.map(skeleton), middle = [...all].sort((a, b) => a.size - b.size)[all.length >> 1];
    const jaccard = set => {
      const both = [...set].filter(p => middle.has(p)).length, either = set.size + middle.size - both;
      return either ? both / either : 1;
    };
    return all.reduce((sum, set) => sum + jaccard(set), 0) / all.length;
  }

  let size;
  // pageSize is the number of characters on the page, up to a bound.
  const pageSize = () => size ??= textOf(document.body, 20000).length;

  // isProse reports whether the items are paragraphs rather than records.
  function isProse(items) {
    const long = items.filter(i => /^(p|div|li|dd|blockquote)$/.test(i.localName) && textOf(i, 200).length > 160
      && !i.querySelector('div,ul,ol,h1,h2,h3,h4,img,button,article,section,table,form'));
    const empty = items.filter(i => !textOf(i, 5) && !i.querySelector('img,' + actionable));
    return long.length > items.length / 2 || empty.length > items.length * 0.4;
  }

  // group returns the alike items among the children of e, and the other children before and
  // after the first of them; null if there are fewer than least.
  function group(e, least = minItems) {
    const all = children(e).filter(c => !skipped.test(c.localName));
    if (all.length < least) return null;
    const shown = all.filter(rendered), enough = items => items.length >= least && items.length >= shown.length * 0.6;
    let items = largest(shown, signature);
    if (!enough(items)) items = largest(shown, c => c.localName);
    if (!enough(items) || /^(br|option|td|th|main|header|footer|fieldset|label)$/.test(items[0].localName)) return null;
    if (items[0].localName === 'p' && !items[0].querySelector(actionable)) return null;
    if (items.some(i => i.querySelector('main,[role=main],header,footer,form form,article article'))) return null;
    const sample = items.slice(0, 40);
    if (items.length < minLinks && sample.every(i => i.matches('a[href]'))) return null; // each deserves a line
    if (sample.every(i => i.matches('input,select,textarea,button,[role=button]')) || mostly(sample, isField)) return null; // a form, not records
    if (similarity(sample) < minAlike || isProse(sample)) return null;
    const room = Math.max(600, pageSize() / 4);
    if (sample.some(i => textOf(i, room + 1).length > room)) return null;
    const chosen = new Set(items), others = shown.filter(c => !chosen.has(c)), first = shown.indexOf(items[0]);
    return { items, before: others.filter(c => shown.indexOf(c) < first), after: others.filter(c => shown.indexOf(c) > first) };
  }

  const mostly = (items, test) => items.filter(test).length > items.length / 2;

  // isField reports whether e is a control with its label.
  const isField = e => e.querySelectorAll('input:not([type=hidden]),select,textarea').length === 1 && !e.querySelector('a[href],img,button');

  // --- what the items are called

  const individual = /\[(href|alt|title|aria-label|value|for|name|data-(id|sku|index|key|item-id|product-id))=|#/;

  // itemSelector is a selector that matches the items and nothing else.
  function itemSelector(parent, items) {
    const all = new Set(items);
    const exact = selector => {
      let n = 0;
      for (const { root } of roots) for (const e of root.querySelectorAll(selector)) if (!all.has(e) || ++n > items.length) return false;
      return n === items.length;
    };
    const common = tokensOf(items[0]).filter(t => !individual.test(t.selector) && items.every(i => i.matches(t.selector))).map(t => t.selector);
    const alone = common.find(exact);
    if (alone) return alone;
    const above = selectorOf(parent)?.selector;
    if (!above) return null;
    return common.map(s => `${above} > ${s}`).find(s => s.length <= 150 && exact(s)) ?? `${above} > ${CSS.escape(items[0].localName)}`;
  }

  // --- fields: what most items contain

  const isLeaf = e => !skipped.test(e.localName) && (!e.matches(actionable) || visible(e)) &&
    (e.matches('a[href],button,input:not([type=hidden]),select,img[alt]:not([alt=""]),time,[itemprop]')
    || [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())) && e.checkVisibility({ visibilityProperty: true });
  const valueOnly = /\[(href|alt|value|aria-label|title|data-[\w-]+)=|#|\d{2,}/;

  // tokenIn is a selector that matches e and nothing else in the item, by its place only for
  // what can be acted on.
  function tokenIn(item, e) {
    const alone = t => item.querySelectorAll(t.selector).length === 1;
    const named = tokensOf(e).find(t => t.cost <= 30 && !valueOnly.test(t.selector) && alone(t));
    if (named || !e.matches(actionable)) return named;
    const place = placeOf(e);
    return [{ cost: 70, selector: place }, { cost: 74, selector: `${placeOf(e.parentElement)} > ${place}` }].find(alone);
  }

  // fieldsOf are the selectors that match one element in most items, each with an example.
  function fieldsOf(items) {
    const all = new Map(), sample = items.slice(0, maxSample);
    for (const item of sample) {
      for (const e of [...item.querySelectorAll('*')].slice(0, 200).filter(isLeaf).slice(0, 25)) {
        const own = tokenIn(item, e);
        if (!own) continue;
        const field = all.get(own.selector) ?? { selector: own.selector, cost: own.cost, e, n: 0 };
        field.n++;
        all.set(own.selector, field);
      }
    }
    return [...all.values()].filter(f => f.n >= Math.max(2, sample.length * 0.1)).sort((a, b) => b.n - a.n || a.cost - b.cost).slice(0, maxFields);
  }

  const fieldKind = e => e.localName === 'img' ? 'image' : e.matches(actionable) ? kindOf(e) : 'text';
  function textOfField(e) {
    if (e.localName === 'img') return plain(hide(e.alt), 40);
    return plain(/^(input|select|textarea)$/.test(e.localName) ? nameOf(e) : textOf(e, 200) || nameOf(e), 40);
  }
  const linkOf = e => e.localName === 'a' ? plain(hide(shortPath(e.href)), 40) : '';

  function addFields(items, fields, depth) {
    for (const f of fields) {
      const n = items.filter(i => i.querySelector(f.selector)).length;
      const states = [...valueStates(f.e), ...n < items.length * 0.95 ? [`in ${n} of ${items.length}`] : []];
      add(depth, { kind: fieldKind(f.e), name: textOfField(f.e), target: linkOf(f.e), states,
        selector: f.selector, grade: '', in_item: true }, 7);
    }
    const general = fields.filter(f => f.n >= Math.min(items.length, maxSample) * 0.9);
    const main = general.find(f => /h\d|name|title/.test(f.selector)) ?? general.find(f => f.e.matches('a') && textOfField(f.e)) ?? general[0];
    const names = items.slice(0, 4).map(i => JSON.stringify(textOfField(main && i.querySelector(main.selector) || i)));
    if (items.length > 4) names.push('… +' + (items.length - 4));
    add(depth, { kind: 'items', detail: names.join(', ') }, 7);
  }

  // moreByScrolling reports whether the items are those of a virtual list, which has only the
  // visible ones in the page: the box around them is much higher than they are, and nothing
  // else fills it.
  function moreByScrolling(items) {
    const boxes = items.map(i => i.getBoundingClientRect());
    const height = Math.max(...boxes.map(b => b.bottom)) - Math.min(...boxes.map(b => b.top));
    for (let n = items[0].parentElement, i = 0; n && n.localName !== 'body' && i < 3; n = n.parentElement, i++) {
      const full = Math.max(n.scrollHeight, n.getBoundingClientRect().height);
      if (full <= 1.5 * height) continue;
      const media = 'img,video,canvas,iframe,input,button';
      const others = children(n).filter(c => !c.contains(items[0]) && !items.includes(c) && (textOf(c, 5) || is(c, media) || c.querySelector(media)));
      return others.reduce((sum, c) => sum + c.getBoundingClientRect().height, 0) < (full - height) / 2;
    }
    return false;
  }

  // counted is the number of items that the page says there are; 0 if it does not say.
  function counted(items) {
    const number = text => +text.replace(/[.,\s]/g, ''), text = textOf(document.body, 20000);
    for (const [, from, to, all] of text.matchAll(/(?:(\d+)\s*[-–]\s*)?(\d+)\s+(?:of|von|de|sur|av|di|из)\s+(\d[\d.,]*)/gi)) {
      const shown = from ? number(to) - number(from) + 1 : number(to);
      if (shown === items.length && number(all) > shown) return number(all);
    }
    const nouns = 'results|products|items|hits|entries|articles|orders|records|rows|offers|jobs|' +
      'Treffer|Ergebnisse|Produkte|Artikel|résultats|produits|resultados|productos';
    const [, all] = new RegExp(`(\\d[\\d.,]*)\\s+(?:${nouns})\\b`, 'i').exec(text) ?? [];
    return all && number(all) > items.length ? number(all) : 0;
  }

  // warningsAbout says why the items may not be all.
  function warningsAbout(items) {
    const all = counted(items), warnings = [];
    if (all) warnings.push(`the page speaks of ${all}, and ${items.length} are in it now: the others may be on further pages, or come by scrolling`);
    if (moreByScrolling(items)) warnings.push(`${items.length} are in the page now; more may come by scrolling`);
    return warnings;
  }

  let advised = false;
  // addAdvice says once how to act on one item of a list.
  function addAdvice(items, fields, selector, depth) {
    const button = fields.find(f => f.e.matches('button,input,[role=button]')), link = fields.find(f => f.e.localName === 'a');
    const href = link && items[0].querySelector(link.selector)?.getAttribute('href');
    if (advised || !button || !href || href.length > 60 || elements.holds(href)) return;
    advised = true;
    add(depth, { kind: 'note', detail: `one item: ${selector}:has(a[href=${JSON.stringify(plain(href, 60))}]) ${button.selector}` }, 3);
  }

  // onlyLink reports whether an item is a link, with next to nothing beside it.
  function onlyLink(i) {
    const link = i.matches('a[href]') ? i : i.querySelector('a[href]');
    return link && (link === i || i.querySelectorAll(actionable).length === 1) && textOf(i, 90).length < Math.min(80, textOf(link, 90).length + 6);
  }

  function addLinks(items, depth) {
    const said = items.slice(0, maxShown).map(i => i.matches('a') ? i : i.querySelector('a[href]'))
      .map(a => `${JSON.stringify(plain(nameOf(a), 28))} → ${plain(hide(shortPath(a.href)), 40)}`);
    if (items.length > maxShown) said.push('… +' + (items.length - maxShown));
    add(depth, { kind: 'items', detail: said.join('; ') }, 6);
  }

  // addItems adds the items one by one, with their own selectors.
  function addItems(items, depth, level) {
    for (const i of items) {
      if (late()) return;
      const best = selectorOf(i);
      const name = plain(textOf(i, 300), detailed() ? 300 : 120);
      add(depth, { kind: 'item', name, selector: best?.selector ?? '', grade: best?.grade ?? '' }, 8, textOf(i, 3000));
      if (!detailed()) continue;
      for (const c of i.querySelectorAll(actionable)) control(c, depth + 1, level);
    }
  }

  // list describes the children of e if they are a list, and reports whether they are.
  function list(e, depth, level) {
    const alike = group(e);
    if (!alike) return false;
    const { items, before, after } = alike, selector = itemSelector(e, items);
    if (!selector) return false;
    for (const c of before) walk(c, depth, level + 1);
    setRoot(items[0]);
    const weight = 10 + Math.min(9, 3 * Math.floor(items.length / 10));
    add(depth, { kind: 'list', matches: items.length, selector, grade: '' }, weight);
    const hits = items.filter(i => wanted(textOf(i, 3000)));
    if (detailed() || hits.length) addItems(detailed() ? items : hits.slice(0, 20), depth + 1, level);
    else if (items.slice(0, 40).every(onlyLink)) addLinks(items, depth + 1);
    else {
      const fields = fieldsOf(items);
      addFields(items, fields, depth + 1);
      addAdvice(items, fields, selector, depth + 1);
    }
    if (moreByScrolling(items)) add(depth + 1, { kind: 'note', detail: `${items.length} in the page now; more may come by scrolling` }, 8);
    for (const c of after) walk(c, depth, level + 1);
    return true;
  }

  // --- tables

  const cellsOf = row => [...row.cells].slice(0, 12);
  const cells = (row, max) => cellsOf(row).map(c => JSON.stringify(plain(textOf(c, 100) || typedIn(c), max))).join(' | ');

  // typedIn is the value of the field in a cell, such as a quantity.
  function typedIn(cell) {
    const f = cell.querySelector('input,select,textarea');
    if (!f || !visible(f) || secretField(f) || /^(checkbox|radio|submit|button|reset|image|file)$/.test(f.type)) return '';
    return hide(f.localName === 'select' ? f.selectedOptions[0]?.label ?? '' : f.value);
  }

  // isHead reports whether a row has the names of the columns.
  const isHead = row => row.parentElement.localName === 'thead'
    || row.querySelector('th') !== null && [...row.cells].every(c => c.localName === 'th' || !textOf(c, 5));

  // isLayout reports whether a table only arranges parts of the page.
  const isLayout = t => t.querySelector('table,form,h1,h2,h3,iframe,main') || read(t, 'role') === 'presentation' || t.rows[0].cells.length < 2;

  // table describes a table of data, and reports whether e is one.
  function table(e, depth) {
    const rows = [...e.rows].slice(0, 500).filter(rendered);
    const headed = rows.length > 1 && isHead(rows[0]);
    if (rows.length < (headed ? 2 : 3) || isLayout(e)) return false;
    const best = selectorOf(e), more = Math.max(0, e.rows.length - 500), body = headed ? rows.slice(1) : rows;
    const name = plain(hide(e.caption?.textContent || read(e, 'aria-label')), 40);
    add(depth, { kind: 'table', name, detail: body.length > 1 ? `${body.length + more} rows` : '1 row',
      selector: best?.selector ?? '', grade: best?.grade ?? '' },
      10 + Math.min(9, 3 * Math.floor(body.length / 10)));
    if (headed) add(depth + 1, { kind: 'columns', detail: cells(rows[0], 30) }, 8);
    const hits = body.filter(r => wanted(textOf(r, 3000)));
    for (const r of detailed() ? body : hits.length ? hits.slice(0, 20) : body.slice(0, 2)) {
      if (late()) break;
      add(depth + 1, { kind: 'row', detail: cells(r, detailed() ? 60 : 24) }, 7, textOf(r, 3000));
    }
    const acting = [...body[0].querySelectorAll(actionable)].filter(visible);
    if (body.length === 1) acting.slice(0, 12).forEach(c => control(c, depth + 2));
    else for (const c of acting.slice(0, 4)) {
      const own = tokensOf(c).find(t => t.cost <= 30 && !individual.test(t.selector))?.selector ?? CSS.escape(c.localName);
      const states = [...valueStates(c), 'in each row'];
      add(depth + 1, { kind: fieldKind(c), name: textOfField(c), states, selector: own, grade: '', in_item: true }, 7);
    }
    return true;
  }

  // --- extract: the operations that return a list or a table as JSON

  // rootExpression is the JavaScript expression for the root that e is in.
  function rootExpression(e) {
    const root = e.getRootNode(), owner = root.host ?? root.defaultView?.frameElement;
    if (root === document || !owner) return 'document';
    const selector = JSON.stringify(selectorOf(owner)?.selector ?? owner.localName);
    return `${rootExpression(owner)}.querySelector(${selector}).${root.host ? 'shadowRoot' : 'contentDocument'}`;
  }

  // keyOf proposes the name of a field, different from those used.
  function keyOf(words, used) {
    const base = words.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^[_\d]+|_+$/g, '').slice(0, 24) || 'text';
    let key = base;
    for (let i = 2; used.has(key); i++) key = base + i;
    used.add(key);
    return key;
  }

  // gettersOf are the keys of an item's object with the JavaScript that reads each.
  function gettersOf(items) {
    const used = new Set(), urls = new Set();
    const getters = fieldsOf(items).flatMap(f => {
      const of = `e.querySelector(${JSON.stringify(f.selector)})`, name = f.selector.split(/[.[="\]]+/).filter(Boolean).at(-1);
      if (f.e.localName === 'img') return [[keyOf('image', used), `${of}?.src ?? null`]];
      if (f.e.matches('button,input,select,textarea,[role=button]')) return [];
      const own = !textOf(f.e, 5) ? [] : [[keyOf(f.e.localName === 'a' ? 'name' : name, used), `${of}?.innerText.trim() ?? null`]];
      if (f.e.localName !== 'a' || urls.has(f.e.href)) return own; // a picture and a title often lead to the same place
      urls.add(f.e.href);
      return [...own, [keyOf('url', used), `${of}?.href ?? null`]];
    });
    if (!getters.length) getters.push([keyOf('text', used), 'e.innerText.trim()']);
    if (!getters.some(([key]) => key === 'url') && items.every(i => i.matches('a[href]'))) getters.push([keyOf('url', used), 'e.href']);
    return getters;
  }

  function columnGetters(t) {
    const used = new Set(), head = t.rows[0]?.querySelector('th') ? t.rows[0] : null, row = head ?? t.rows[0];
    return [...row?.cells ?? []].slice(0, 20).map((c, n) => [keyOf(head ? textOf(c, 40) : 'column', used), `e.cells[${n}]?.innerText.trim() ?? null`]);
  }

  // extract returns the operations that read the matches of the selector, and their number.
  function extract(selector) {
    const root = roots.find(r => { try { return r.root.querySelector(selector); } catch { return false; } });
    if (!root) return { missing: true };
    let items = [...root.root.querySelectorAll(selector)], query = `.querySelectorAll(${JSON.stringify(selector)})`, filter = '', getters;
    if (items[0].localName === 'table') {
      getters = columnGetters(items[0]);
      query = `.querySelector(${JSON.stringify(selector)}).rows`;
      filter = '.filter(e => e.querySelector("td"))';
      items = [...items[0].rows].filter(r => r.querySelector('td'));
    } else {
      getters = items[0].localName === 'tr' ? columnGetters(items[0].closest('table')) : gettersOf(items);
    }
    const object = getters.map(([key, js]) => `${key}: ${js}`).join(', ');
    const from = rootExpression(root.root.querySelector(selector));
    return { count: items.length, table: !!filter, warnings: warningsAbout(items), script: `(() => [...${from}${query}]${filter}.map(e => ({${object}})))()` };
  }

  // listAround returns a selector that extract takes: of the items of the innermost list that e
  // is in, or of its table; '' if e is in neither.
  function listAround(e) {
    const t = e.closest('table');
    if (t && t.rows.length > 1 && !isLayout(t)) return selectorOf(t)?.selector ?? '';
    for (let n = e; n.parentElement; n = n.parentElement) {
      const alike = group(n.parentElement, n.matches('li,tr,article,[role=listitem],[role=row]') ? 2 : minItems);
      if (alike?.items.includes(n)) return itemSelector(n.parentElement, alike.items) ?? '';
    }
    return '';
  }

  return { list, table, extract, listAround };
}
