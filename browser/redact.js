// Runs in the helper's world before a screenshot is taken, and hides what it must not
// show: passwords always; if the run has secrets, also what shows one, and what may show
// one but cannot be read. Frames of other origins run their own copy. The result is the
// viewport, with the number of elements that were hidden.
//
// If undo is true, the page is used afterwards: what is changed is recorded for unmask.js,
// nothing is removed, and what a call before has hidden is not hidden again. sealed are then
// the hosts of closed shadow roots, which must be hidden as well.
(secrets, undo) => {
  'use strict';
  const { all } = rote.inner;
  const { any, numeric, fold, holds, holdsFolded } = findSecrets(secrets);
  const masks = undo ? globalThis.roteMasks ??= new Map() : new Map(); // the style attribute of each hidden element
  const secretFields = /\b(current-password|new-password|one-time-code|cc-number|cc-csc)\b/;
  const images = ['background-image', 'border-image-source', 'list-style-image', 'mask-image', 'content'];

  const count = { hidden: 0 };
  const styleOf = (e, pseudo) => e.ownerDocument.defaultView.getComputedStyle(e, pseudo);
  const parent = e => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host;

  // topLayer matches elements in the top layer, which are shown above the page whatever
  // contains them.
  const topLayer = ':modal,:popover-open,:fullscreen';

  // vanish records that e is to be hidden, unless it is hidden already. Nothing changes
  // until everything was read, because reading styles after each change takes long.
  const styleAttribute = e => Element.prototype.getAttribute.call(e, 'style'); // a field of a form may be called getAttribute
  const concealed = e => styleOf(e).display === 'none' || styleOf(e).opacity === '0' && styleOf(e).visibility === 'hidden';
  const doomed = new Set(), hidden = new Set([...masks.keys()].filter(e => e.isConnected && concealed(e)));
  function vanish(e) {
    while (!e.style) { // such as an XML element
      e = parent(e);
      if (!e) throw new Error('nothing around this can be hidden');
    }
    if (!hidden.has(e)) doomed.add(e);
  }

  // hide hides all recorded elements and their contents at once. It removes those that
  // the page's styles show nevertheless, as those of a shadow root can.
  function hide() {
    // An element without a box cannot be transparent, and an element in the top layer
    // has a backdrop.
    const removed = [...doomed].filter(e => styleOf(e).display === 'contents' || e.matches(topLayer));
    const none = ['transition', 'animation', ...images.slice(0, -1)].map(name => name + ': none !important');
    const unseen = [';visibility: hidden !important', 'opacity: 0 !important', ...none].join(';');
    if (undo) for (const e of doomed) if (!masks.has(e)) masks.set(e, styleAttribute(e));
    for (const e of doomed) e.style.cssText += unseen;
    for (const e of removed) e.style.cssText += ';display: none !important';
    const visible = [...doomed].filter(e => {
      const style = styleOf(e);
      return style.display !== 'none' && (style.opacity !== '0' || style.visibility !== 'hidden' || removed.includes(e));
    });
    if (undo && visible.length) throw new Error('a part of the page stays visible');
    for (const e of visible) e.remove();
    for (const e of doomed) hidden.add(e);
    count.hidden += doomed.size;
    doomed.clear();
  }

  // hideSealed hides the hosts of closed shadow roots. Their styles are those of the root, and
  // they may have contents in the top layer, so that only display: none will do.
  function hideSealed() {
    for (const e of globalThis.roteSealed ?? []) {
      if (!e.isConnected || styleOf(e).display === 'none') continue;
      if (!masks.has(e)) masks.set(e, styleAttribute(e));
      e.style.cssText += ';display: none !important';
      if (styleOf(e).display !== 'none') throw new Error('a closed shadow root stays visible');
      count.hidden++;
    }
  }

  // hideRaised records elements in the top layer that belong to hidden ones.
  function hideRaised(elements) {
    for (const { e } of elements) {
      if (!e.matches(topLayer)) continue;
      for (let around = e; around; around = parent(around)) if (doomed.has(around) || hidden.has(around)) vanish(e);
    }
  }

  // --- the text that is shown, folded

  const unseen = '\0'; // separates texts that are not read as one

  function decoded(url) {
    try { return decodeURIComponent(url); } catch { return url; }
  }

  // risky reports whether an image may show a secret: its URL contains one, or it cannot
  // be read.
  const risky = url => /(^|[("'\s])blob:/.test(url) || holds(url) || holds(decoded(url));

  // painted reports whether the style shows an image that may show a secret.
  const painted = style => images.some(name => {
    const value = style.getPropertyValue(name);
    return /\(/.test(value) && risky(value);
  });

  const unescaped = css => css.replace(/\\([0-9a-f]{1,6})\s?/gi, (_, code) => String.fromCodePoint(parseInt(code, 16))).replace(/\\(.)/g, '$1');

  // generated is the text that a pseudo-element of e shows; null when it may show a
  // secret and cannot be read.
  function generated(e, pseudo) {
    const style = styleOf(e, pseudo), content = style.content;
    if (pseudo === '::backdrop') return painted(style) ? null : '';
    if (content === 'none' || content === 'normal') return ''; // no pseudo-element
    if (painted(style) || numeric && /counters?\(/.test(content)) return null;
    const strings = [...content.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(m => unescaped(m[1]));
    const attributes = [...content.matchAll(/attr\(\s*([^\s,)]+)/g)].map(m => e.getAttribute(m[1]) ?? '');
    return fold([...strings, ...attributes].join('')) + (/quote/.test(content) ? unseen + fold(style.quotes) : '');
  }

  // ordinals are the numbers of list items.
  const ordinals = new Map();
  function number(list) {
    const items = [...list.children].filter(c => c.localName === 'li');
    let n = list.hasAttribute('start') ? list.start : list.reversed ? items.length : 1;
    for (const item of items) {
      if (item.hasAttribute('value')) n = item.value;
      ordinals.set(item, String(Math.abs(n)));
      n += list.reversed ? -1 : 1;
    }
  }

  // properties are the texts and images that e shows in addition to its content; null if
  // one may show a secret and cannot be read.
  function properties(e, style) {
    const a = name => e.getAttribute(name) ?? '';
    const quoted = [style.listStyleType, style.hyphenateCharacter].filter(value => value.startsWith('"'));
    const texts = [ordinals.get(e) ?? '', ...quoted.map(value => value.slice(1, -1))];
    let urls = [];
    switch (e.localName) {
      case 'img': case 'image': case 'source': case 'feimage':
        texts.push(a('alt'));
        urls = [a('src'), a('srcset'), e.currentSrc ?? '', a('href'), e.getAttributeNS('http://www.w3.org/1999/xlink', 'href') ?? ''];
        break;
      case 'input':
        texts.push(e.value, e.placeholder, a('value'), a('alt'), ...[...e.files ?? []].map(f => f.name));
        urls = [a('src')];
        break;
      case 'textarea': texts.push(e.value, e.placeholder); break;
      case 'select': texts.push(...[...e.options].flatMap(o => [o.label, o.text]), ...[...e.querySelectorAll('optgroup')].map(g => g.label)); break;
      case 'area': texts.push(a('alt')); break;
    }
    if (painted(style) || urls.some(risky)) return null;
    return texts.map(fold).filter(Boolean).join(unseen);
  }

  const shown = new Map(); // of each element that is displayed: { text, parts, inside }

  const content = e => e.localName === 'select' ? [] : e.shadowRoot ? e.shadowRoot.childNodes
    : e.localName === 'slot' && e.assignedNodes().length ? e.assignedNodes() : e.childNodes;

  // read is what e and its contents show, in visual order.
  function read(e) {
    const style = styleOf(e);
    if (style.display === 'none') return '';
    const own = [properties(e, style), style.display === 'list-item' ? generated(e, '::marker') : '',
      e.matches(':modal,:popover-open') ? generated(e, '::backdrop') : '', generated(e, '::before'), generated(e, '::after')];
    if (own.includes(null)) {
      vanish(e);
      return unseen;
    }
    const [beside, marker, backdrop, before, after] = own;
    const inside = [];
    const apart = [beside, backdrop].filter(Boolean).map(text => unseen + text + unseen).join('');
    const parts = [apart + marker + before];
    for (const n of content(e)) {
      if (n.nodeType === Node.ELEMENT_NODE) inside.push({ e: n, part: parts.push(read(n)) - 1 });
      else if (n.nodeType === Node.TEXT_NODE || n.nodeType === Node.CDATA_SECTION_NODE) parts.push(fold(n.data));
    }
    parts.push(after);
    const text = parts.join('');
    shown.set(e, { text, parts, inside });
    return text;
  }

  // shroud records the smallest elements that show a secret.
  function shroud(e) {
    const s = shown.get(e);
    if (!s || !holdsFolded(s.text)) return;
    for (const i of s.inside) {
      const inner = shown.get(i.e);
      if (!inner || !holdsFolded(inner.text)) continue;
      shroud(i.e);
      s.parts[i.part] = unseen;
    }
    if (holdsFolded(s.parts.join(''))) vanish(e);
  }

  // look records what is to be hidden.
  function look() {
    for (const { e } of all('input,textarea', Infinity)) {
      if (e.type === 'password' || secretFields.test(e.autocomplete)) vanish(e);
    }
    for (const e of globalThis.roteReleased ?? []) if (e.isConnected) vanish(e); // a secret was typed into it
    if (!any) return;
    const everything = all('*', Infinity);
    for (const { e } of everything) if (/^(canvas|object|embed|video|fencedframe)$/.test(e.localName)) vanish(e);
    if (numeric) for (const { e } of everything) if (e.localName === 'ol') number(e);
    shown.clear();
    for (const root of new Set(everything.map(f => f.e.ownerDocument.documentElement))) {
      if (root.matches(':active-view-transition')) throw new Error('pictures of the page are shown in place of it');
      read(root);
      shroud(root);
    }
    hideRaised(everything);
  }

  // The page may have style rules that apply to hidden elements, so it is checked again.
  const maxLooks = 4;
  if (undo) hideSealed();
  for (let looks = 1; look(), doomed.size > 0; looks++) {
    if (looks === maxLooks) throw new Error('the page shows more whenever something is hidden');
    hide();
  }
  return { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight, hidden: count.hidden };
}
