// Runs in the helper's world, on demand: generates a selector for an element and estimates
// how likely it is to survive changes of the page. elements is the object of elements.js.
elements => {
  'use strict';
  const { around, every } = rote.inner;
  const { roots, holds, read, testIds, buttonInput } = elements;
  const maxSelector = 150, maxValue = 60;
  const maxAncestors = 8; // that a selector may start from
  const maxPath = 12; // levels of a selector by place

  // --- generated names

  // kits are prefixes of names that libraries generate.
  const kits = new RegExp('^(css|sc|jsx|jss|emotion|svelte|astro|data-v|ng|_ng|mat-mdc|mui|radix|headlessui|react-aria|react-select|rc|ember|ext-gen|' +
    'ext-comp|gwt-uid|yui|downshift|chakra|mantine|el-id|__BVID__|uid|auto_id)([-_:\\d]|$)', 'i');
  // states are names that say what state the element is in.
  const states = new RegExp('^(is|has|js|ng)-|^(active|open|opened|closed|hover|focus|focused|selected|current|disabled|enabled|loading|loaded|hidden|' +
    'visible|show|shown|collapsed|expanded|error|valid|invalid|touched|untouched|pristine|dirty|first|last|odd|even|lazyloaded)$', 'i');
  // utilities are names that say how the element looks.
  const utilities = new RegExp('^-?(m|p|w|h|mt|mb|ml|mr|mx|my|pt|pb|pl|pr|px|py|gap|grid|flex|col|row|text|bg|border|rounded|shadow|font|leading|tracking|' +
    'items|justify|self|space|inset|top|left|right|bottom|z|min|max|d|float|order|overflow|block|inline|hidden|relative|absolute|sticky|fixed|cursor|' +
    'transition|duration|ease|opacity|sr|md|sm|lg|xl|btn|icon|container|wrapper|clearfix)([-:/[].*)?$');

  // looksHashed reports whether a part of a name looks like the output of a program.
  function looksHashed(part) {
    if (part.length < 4) return false;
    if (/^\d+$/.test(part)) return true;
    if (/[a-z]\d+[a-z]|\d[a-z]+\d/i.test(part)) return true;
    if (/^[0-9a-f]{6,}$/i.test(part) && (part.match(/\d/g) ?? []).length > 1) return true;
    const humps = part.split(/(?=[A-Z])/); // kXyZab: pieces that are too short for words
    if (part.length > 4 && humps.length > 1 && part.length / humps.length < 3 && !/^[A-Z]+$/.test(part)) return true;
    return part.length > 5 && (part.match(/[aeiouyäöü]/gi) ?? []).length / part.length < 0.12;
  }
  // cssModule matches the classes of CSS modules, such as Card_title__x8Tq2 or Card_title__KATCI.
  const cssModule = /^([A-Za-z][A-Za-z\d]*_[A-Za-z][A-Za-z\d]*__)(?=[\w-]*[A-Z\d])[\w-]{5,}$/;
  const generated = name => /^_|[:«»]/.test(name) || kits.test(name) || cssModule.test(name) || name.split(/[-_]+/).some(looksHashed);

  // --- tokens: simple selectors with their cost; the less, the longer they are likely to match

  const quote = value => `"${value.replace(/["\\]/g, '\\$&')}"`;
  const unseen = /[\p{Cc}\p{Cs}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;
  const usable = value => value && value.length <= maxValue && !holds(value) && !unseen.test(value) && !/[{}]/.test(value);
  const secretLink = /^(#|javascript:|data:)|[?&#;][^=]*(authorization|cookie|token|api-?key|secret|password|csrf|xsrf)[^=]*=/i;
  // attributes are those whose value names an element, with their cost.
  const attributes = [['itemprop', 6], ['for', 8], ['rel', 9], ['autocomplete', 9], ['aria-label', 10], ['placeholder', 11], ['title', 14], ['alt', 14],
    ['type', 18], ['role', 18]];

  const onOrOff = /^(on|off)$/i;

  // telling matches the tags of which most pages have few.
  const telling = /^(main|h1|form|header|footer|nav|table|dialog|select|textarea)$/;

  // attributeCosts are the attributes of e that are for selectors, with their cost.
  function attributeCosts(e) {
    const costs = new Map(attributes);
    if (/^(input|select|textarea|button|form|iframe|fieldset|output|object|meta)$/.test(e.localName)) costs.set('name', 3);
    if (e.localName === 'form') costs.set('action', 6);
    if (onOrOff.test(read(e, 'autocomplete'))) costs.delete('autocomplete'); // many fields have it
    if (/^(label|option)$/.test(e.localName) || /^(radio|checkbox)$/.test(e.type)) costs.set('value', 5); // that of a text field is what was typed
    if (buttonInput(e)) costs.set('value', 12);
    if (e.localName === 'a' && !secretLink.test(read(e, 'href'))) costs.set('href', 13);
    return costs;
  }

  // An id costs more than a name, which the page's server relies on, or a test id.
  function idToken(e) {
    const id = read(e, 'id');
    if (!usable(id)) return [];
    const selector = '#' + CSS.escape(id), front = /^([a-z]+(?:-[a-z]+)+-)[^a-z]+$/i.exec(id)?.[1];
    if (!generated(id)) return [{ cost: 4, selector }];
    return front && !generated(front) ? [{ cost: 34, selector: `[id^=${quote(front)}]` }, { cost: 60, selector }] : [{ cost: 60, selector }];
  }

  function classTokens(e, tag) {
    const names = [...e.classList].filter(c => !generated(c) && !states.test(c) && usable(c)).slice(0, 6);
    const strong = names.filter(c => !utilities.test(c));
    const tokens = names.map(c => ({ cost: utilities.test(c) ? 44 : 26, selector: `${tag}.${CSS.escape(c)}` }));
    for (const c of strong.slice(1)) tokens.push({ cost: 34, selector: `${tag}.${CSS.escape(strong[0])}.${CSS.escape(c)}` });
    for (const c of e.classList) { // the stem of a CSS module's class stays
      const stem = /^([A-Za-z][A-Za-z\d]*_[A-Za-z][A-Za-z\d]*__)[\w-]{4,}$/.exec(c)?.[1];
      if (stem && usable(c)) tokens.push({ cost: 30, selector: `${tag}[class*=${quote(stem)}]` });
    }
    return tokens;
  }

  const tokenCache = new WeakMap();
  // tokensOf are the simple selectors that match e, the most stable ones first.
  function tokensOf(e) {
    if (tokenCache.has(e)) return tokenCache.get(e);
    const tag = CSS.escape(e.localName), tokens = idToken(e);
    for (const t of testIds) {
      const value = read(e, t);
      if (usable(value)) tokens.push({ cost: generated(value) ? 30 : 1, selector: `[${t}=${quote(value)}]` });
    }
    for (const [name, cost] of attributeCosts(e)) {
      const value = read(e, name);
      if (!usable(value)) continue;
      const digits = /\d/.test(value) && !/^(name|value)$/.test(name) ? 8 : 0;
      tokens.push({ cost: cost + digits + (name !== 'href' && generated(value) ? 40 : 0), selector: `${tag}[${name}=${quote(value)}]` });
    }
    for (const { name, value } of [...e.attributes].slice(0, 40)) {
      if (!/^data-[a-z-]{3,24}$/.test(name) || name === 'data-rote-mark' || testIds.includes(name) || generated(name) ||
        value.length > 30 || !usable(value) || generated(value)) continue;
      tokens.push({ cost: /^[a-z][a-z -]*$/i.test(value) ? 12 : 22, selector: `${tag}[${name}=${quote(value)}]` });
    }
    tokens.push(...classTokens(e, tag), { cost: telling.test(e.localName) ? 20 : 28, selector: tag });
    tokens.sort((a, b) => a.cost - b.cost);
    tokenCache.set(e, tokens);
    return tokens;
  }

  // --- search

  let hurry = Infinity; // the time from which only cheap selectors are tried
  const setHurry = at => { hurry = at; };
  const hurried = () => performance.now() > hurry;

  const counts = new Map();
  // count is how many elements the selector matches, 2 if they are more.
  function count(selector) {
    if (!counts.has(selector)) {
      let n = 0;
      for (const { root } of roots) if ((n += root.querySelectorAll(selector).length) > 1) break;
      counts.set(selector, Math.min(n, 2));
    }
    return counts.get(selector);
  }

  function placeOf(e) {
    const tag = CSS.escape(e.localName);
    let at = 1, same = 1;
    for (let n = e.previousElementSibling; n; n = n.previousElementSibling) if (n.localName === e.localName) { at++; same++; }
    for (let n = e.nextElementSibling; n && same < 2; n = n.nextElementSibling) if (n.localName === e.localName) same++;
    return same > 1 ? `${tag}:nth-of-type(${at})` : tag;
  }

  // underAncestors offers an ancestor's token followed by one of e.
  function underAncestors(e, own, offer, best) {
    let depth = 0;
    for (let n = e.parentElement; n && n.localName !== 'body' && depth < maxAncestors && !hurried(); n = n.parentElement, depth++) {
      for (const above of tokensOf(n).slice(0, 3)) {
        if (above.cost > 30) continue;
        for (const t of own.slice(0, 6)) {
          const own = t.selector === 'button' ? 24 : t.cost; // better than a class name if it is the only button there
          const cost = above.cost + own + 4 + depth;
          if (cost < best()) offer(`${above.selector} ${t.selector}`, cost);
        }
      }
    }
  }

  // byContents offers to recognize e by something in it that has a name.
  function byContents(e, offer) {
    for (const n of every(e, '[id],[name],a[href],[data-testid]').slice(0, 4)) {
      for (const t of tokensOf(n).slice(0, 2)) if (t.cost < 16) offer(`${CSS.escape(e.localName)}:has(${t.selector})`, t.cost + 24);
    }
  }

  // byPlace offers the path to e from the nearest ancestor that has a name.
  function byPlace(e, offer) {
    let path = placeOf(e), n = e.parentElement;
    for (let i = 0; n && i < maxPath; n = n.parentElement, i++) {
      const anchor = tokensOf(n).find(t => t.cost <= 30 && count(t.selector) === 1);
      if (anchor && count(`${anchor.selector} > ${path}`) === 1) return offer(`${anchor.selector} > ${path}`, 70 + anchor.cost + 4 * i);
      path = placeOf(n) + ' > ' + path;
    }
    return offer(path, 160);
  }

  const gradeOf = cost => cost <= 15 ? 'A' : cost <= 36 ? 'B' : cost <= 69 ? 'C' : 'D';
  const found = new Map();
  // selectorOf is a selector that matches e and nothing else, with its cost and grade: from
  // A, which lasts, to D, which depends on the element's place. It is null if there is none.
  function selectorOf(e) {
    if (found.has(e)) return found.get(e);
    let best = null;
    const cost = () => best?.cost ?? Infinity;
    const offer = (selector, c) => {
      if (selector.length <= maxSelector && c < cost() && !unseen.test(selector) && count(selector) === 1) best = { selector, cost: c, grade: gradeOf(c) };
    };
    const own = tokensOf(e);
    for (const t of own) offer(t.selector, t.cost);
    if (/^(radio|checkbox)$/.test(e.type) && usable(read(e, 'name')) && usable(read(e, 'value'))) {
      offer(`${CSS.escape(e.localName)}[name=${quote(read(e, 'name'))}][value=${quote(read(e, 'value'))}]`, 5);
    }
    underAncestors(e, own, offer, cost);
    if (cost() > 45 && !hurried()) byContents(e, offer);
    if (cost() > 60) byPlace(e, offer);
    found.set(e, best);
    return best;
  }

  // kindOf says which kind of selector it is: what its last part goes by, and whether parts
  // before it help.
  const kindOf = selector => {
    const last = selector.split(/[\s>]+(?![^[]*\])/).at(-1);
    return (last === selector ? '' : 'in ') + (/:nth|^#|:has|\[[\w-]+|\./.exec(last)?.[0] ?? 'tag');
  };

  // alternativesOf are up to three other selectors that match e and nothing else, each of
  // another kind, for when the best one does not do.
  function alternativesOf(e) {
    const best = selectorOf(e)?.selector ?? '', kinds = new Set([kindOf(best)]), others = [];
    const offer = (selector, cost) => {
      if (kinds.has(kindOf(selector)) || others.length === 3 || selector.length > maxSelector || unseen.test(selector) || count(selector) !== 1) return;
      kinds.add(kindOf(selector));
      others.push({ selector, grade: gradeOf(cost) });
    };
    for (const t of tokensOf(e)) offer(t.selector, t.cost);
    const box = e.parentElement && around(e.parentElement, 'form,[id],main,section,article');
    for (const a of box ? tokensOf(box).slice(0, 3) : []) {
      for (const t of tokensOf(e).slice(0, 3)) offer(`${a.selector} ${t.selector}`, a.cost + t.cost + 4);
    }
    byPlace(e, offer);
    return others;
  }

  // --- the grade of any selector

  const nameChars = '(?:[\\w-]|\\\\.|[^\\x00-\\x7f])+';
  const quotedText = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
  // part matches an attribute, an id, a class, a pseudo-class, a comma, a combinator or a tag.
  const part = new RegExp(`\\[\\s*([\\w-]+)\\s*(?:[~|^$*]?=\\s*(${quotedText}|[^\\]\\s]+))?[^\\]]*\\]|#(${nameChars})|\\.(${nameChars})|` +
    `:?:([\\w-]+)(\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\))?|(\\s*,\\s*)|(\\s*[\\s>+~]\\s*)|(${nameChars}|\\*)`, 'gu');
  const attributeCost = new Map([...attributes, ...testIds.map(t => [t, 1]), ['id', 4], ['name', 3], ['value', 5], ['action', 6], ['href', 13]]);

  function costOfAttribute(name, value) {
    if (name === 'autocomplete' && onOrOff.test(value)) return 40;
    const cost = attributeCost.get(name) ?? (/^data-/.test(name) && /^[a-z][a-z -]*$/i.test(value) ? 12 : 22);
    return cost + (name !== 'href' && generated(value) ? 40 : 0) + (/\d/.test(value) && !/^(name|value|id)$/.test(name) ? 8 : 0);
  }

  function costOfPseudo(name, inner) {
    if (/^(nth|first|last|only)-/.test(name)) return 70;
    if (!inner) return 20;
    return name === 'not' ? 10 : (name === 'has' ? 24 : 0) + costOf(inner.slice(1, -1));
  }

  // costOf estimates the cost of a selector, in the measure of tokens. All of its parts have
  // to last, so their costs add up.
  function costOf(selector) {
    let worst = 0, total = 0, own = [], tag = 0;
    const close = () => {
      if (own.length || tag) total += own.length ? Math.max(...own) + 8 * (own.length - 1) : tag;
      own = []; tag = 0;
    };
    for (const [, attribute, value = '', id, name, pseudo, inner, comma, combinator, element] of selector.trim().matchAll(part)) {
      if (attribute) own.push(costOfAttribute(attribute, value.replace(/^["']|["']$/g, '')));
      else if (id) own.push(generated(id) ? 60 : 4);
      else if (name) own.push(generated(name) || states.test(name) ? 66 : utilities.test(name) ? 44 : 26);
      else if (pseudo) own.push(costOfPseudo(pseudo, inner));
      else if (element) tag = telling.test(element) ? 20 : 28;
      else if (combinator) { close(); total += 4; }
      else if (comma) { close(); worst = Math.max(worst, total); total = 0; }
    }
    close();
    return Math.max(worst, total);
  }

  const gradeOfSelector = selector => gradeOf(costOf(selector));

  return { tokensOf, selectorOf, alternativesOf, gradeOfSelector, placeOf, setHurry, count, generated,
    isState: c => states.test(c), isUtility: c => utilities.test(c) };
}
