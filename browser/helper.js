// Runs in an isolated world: the page shares its DOM with this code but none of
// its globals, so it can neither see nor bend what happens here.
globalThis.rote = (() => {
  'use strict';
  const minOpacity = 0.1; // what a person would call visible
  const minBox = 2; // px

  // --- finding: the document, open shadow roots and frames of the same origin

  // documentIn is the document in a frame; null for what is none, and for one of
  // another origin, which is asked itself.
  const documentIn = e => /^(iframe|frame|object)$/.test(e.localName) ? e.contentDocument : null;

  // all gives every match in tree order, each with the frames it is in.
  function all(selector, max) {
    const found = [];
    found.windows = [window];
    if (window !== top && frameElement) return found; // the frame around it has looked here
    const visit = (root, frames) => {
      if (found.length >= max) return;
      for (const e of root.querySelectorAll(selector)) {
        if (found.length < max) found.push({ e, frames });
      }
      for (const e of root.querySelectorAll('*')) {
        if (e.shadowRoot) visit(e.shadowRoot, frames);
        const inner = documentIn(e);
        if (!inner) continue;
        found.windows.push(inner.defaultView);
        visit(inner, [...frames, e]);
      }
    };
    visit(document, []);
    return found;
  }

  const describe = e => {
    const id = e.id ? '#' + e.id : '';
    const cls = !id && typeof e.className === 'string' && e.className.trim() ? '.' + e.className.trim().split(/\s+/).slice(0, 2).join('.') : '';
    return e.localName + id + cls;
  };

  // Of the parents only a shadow root is a fragment. A frame's are no instances
  // of this window's classes.
  const up = n => n.assignedSlot || n.parentElement || (n.parentNode?.nodeType === Node.DOCUMENT_FRAGMENT_NODE ? n.parentNode.host : null);

  // --- judging: one reason why a person could not act on the element, or null

  // seat is what has e's box: of an area its image, which it has none without.
  const seat = e => e.localName !== 'area' ? e
    : [...e.getRootNode().querySelectorAll('img[usemap]')].find(i => i.useMap === '#' + e.closest('map')?.name);

  function unseen(e) {
    if (!e.isConnected) return 'is no longer in the document';
    if (e.localName === 'area') {
      const image = seat(e);
      return image ? unseen(image) : 'belongs to no image';
    }
    if (e.localName === 'input' && e.type === 'hidden') return 'is a hidden field';
    const s = getComputedStyle(e), list = e.localName === 'option' && e.closest('select');
    if (list && !e.getClientRects().length) return `is an option of ${describe(list)}: choose it with input_text into that list`;
    if (s.display === 'none' || (s.display !== 'contents' && !e.getClientRects().length)) return 'is not displayed (display: none)';
    if (s.visibility !== 'visible') return 'is invisible (visibility: ' + s.visibility + ')';
    if (!e.checkVisibility()) return 'is not rendered'; // what is left out only until it is seen can be scrolled to
    let opacity = 1;
    for (let n = e; n; n = up(n)) {
      const t = getComputedStyle(n);
      opacity *= +t.opacity;
      const f = /opacity\(([\d.]+)(%?)\)/.exec(t.filter);
      if (f) opacity *= f[2] ? f[1] / 100 : +f[1];
      if (n.inert) return 'is inert';
    }
    if (opacity <= minOpacity) return 'is transparent (opacity ' + Math.round(opacity * 100) / 100 + ')';
    if (!boxes(e).length) {
      const r = e.getBoundingClientRect();
      return `is too small to see (${Math.round(r.width)}×${Math.round(r.height)} px)`;
    }
    return null;
  }

  // boxes are where e can be seen. A link around what floats has none of its own,
  // and is seen where that is.
  const boxes = e => {
    const own = sized(e);
    return own.length ? own : [...e.querySelectorAll('*')].slice(0, 20).filter(n => !unseen(n)).flatMap(sized);
  };

  const sized = e => [...e.getClientRects()].filter(r => r.width >= minBox && r.height >= minBox);

  function unable(e, typing) {
    if (e.matches(':disabled')) return 'is disabled';
    const aria = e.closest('[aria-disabled="true"]');
    if (aria) return 'is disabled (aria-disabled)';
    if (!typing) return null;
    if (e.readOnly && !e.isContentEditable) return 'is read-only';
    return null;
  }

  // hit is the topmost element at a point of e's document, through open shadow
  // roots.
  function hit(doc, x, y) {
    let n = doc.elementFromPoint(x, y);
    while (n && n.shadowRoot) {
      const m = n.shadowRoot.elementFromPoint(x, y);
      if (!m || m === n) break;
      n = m;
    }
    return n;
  }

  const within = (n, e) => {
    for (; n; n = n.assignedSlot || n.parentNode || n.host) if (n === e) return true;
    return false;
  };

  const serves = (n, e) => {
    if (within(n, e)) return true;
    const label = n.closest('label');
    return !!label && label.control === e;
  };

  // outside turns a point of a frame's into one of the document around it.
  // Previews are frames that are scaled; of a side that is not, only the
  // fraction of a pixel is lost.
  function outside(f, x, y) {
    const r = f.getBoundingClientRect(), s = getComputedStyle(f), m = turned(f);
    x += f.clientLeft + parseFloat(s.paddingLeft);
    y += f.clientTop + parseFloat(s.paddingTop);
    if (m) { // about the middle, which is where the box around it has its own
      const p = m.transformPoint({ x: x - f.offsetWidth / 2, y: y - f.offsetHeight / 2 });
      return { x: (r.left + r.right) / 2 + p.x, y: (r.top + r.bottom) / 2 + p.y };
    }
    const along = (at, size, full) => at * (Math.abs(size - full) < 1 ? 1 : size / full);
    return { x: r.left + along(x, r.width, f.offsetWidth), y: r.top + along(y, r.height, f.offsetHeight) };
  }

  // turned is how e is transformed, but for its place, if it is rotated, skewed
  // or mirrored. Perspective is not reckoned with.
  function turned(e) {
    let m = new DOMMatrix();
    for (; e; e = up(e)) {
      const s = getComputedStyle(e), t = new DOMMatrix(s.transform);
      const flat = new DOMMatrix([t.m11, t.m12, t.m21, t.m22, 0, 0]).multiply(m);
      const scale = s.scale.split(' ').map(parseFloat), [, angle] = /^([-\d.e]+)deg$/.exec(s.rotate) ?? [, 0];
      m = new DOMMatrix().rotate(+angle).scale(scale[0] || 1, (scale[1] ?? scale[0]) || 1).multiply(flat);
    }
    return Math.abs(m.b) > 1e-6 || Math.abs(m.c) > 1e-6 || m.a < 0 || m.d < 0 ? m : null;
  }

  // toTop turns a point of an element's frame into one of the top viewport, and
  // tells whether something covers the frame there.
  function toTop(x, y, frames) {
    for (let i = frames.length - 1; i >= 0; i--) {
      const f = frames[i];
      ({ x, y } = outside(f, x, y));
      const n = hit(f.ownerDocument, x, y);
      if (!n) return { off: true };
      if (n !== f) return { cover: n };
    }
    return { x, y };
  }

  // Where to look in a box, as parts of its width and height. An area is somewhere
  // in its image.
  const around = [[.5, .5], [.25, .5], [.75, .5], [.5, .25], [.5, .75]];
  const raster = Array.from({ length: 40 * 40 }, (_, i) => [(i % 40 + .5) / 40, (Math.floor(i / 40) + .5) / 40]);

  // point finds where e can be hit: the middle first, then points around it.
  function point(e, frames) {
    const doc = e.ownerDocument, w = doc.defaultView.innerWidth, h = doc.defaultView.innerHeight;
    let cover = null, seen = false;
    for (const r of boxes(seat(e))) {
      const x0 = Math.max(0, r.left), x1 = Math.min(w, r.right), y0 = Math.max(0, r.top), y1 = Math.min(h, r.bottom);
      if (x1 - x0 < 1 || y1 - y0 < 1) continue;
      for (const [fx, fy] of e.localName === 'area' ? raster : around) {
        const x = x0 + (x1 - x0) * fx, y = y0 + (y1 - y0) * fy, n = hit(doc, x, y);
        if (!n) continue;
        seen = true;
        if (!serves(n, e)) { cover ??= n; continue; }
        const top = toTop(x, y, frames);
        if (top.off) continue;
        if (top.cover) { cover ??= top.cover; continue; }
        return { x: top.x, y: top.y };
      }
    }
    if (cover) {
      const clipped = getComputedStyle(e).pointerEvents === 'none';
      if (clipped) return { why: 'takes no pointer events (pointer-events: none)' };
      return { why: within(e, cover) ? 'is clipped or takes no clicks at any visible point' : 'is covered by ' + describe(cover) };
    }
    return { why: seen ? 'cannot be hit' : 'is outside the visible page' };
  }

  const inView = e => {
    const r = e.getBoundingClientRect(), v = e.ownerDocument.defaultView;
    return r.top >= 0 && r.left >= 0 && r.bottom <= v.innerHeight && r.right <= v.innerWidth;
  };

  // target is what to act on for e: itself, or the visible label of a checkbox
  // or radio button that is hidden under it.
  function target(e, typing) {
    const why = unseen(e);
    if (!why || typing) return { e, why };
    if (e.localName === 'input' && /^(checkbox|radio)$/.test(e.type) && e.isConnected && !e.disabled) {
      for (const l of e.labels || []) if (!unseen(l)) return { e: l, why: null };
    }
    return { e, why };
  }

  async function judge({ e, frames }, o) {
    const t = target(e, o.typing);
    const why = t.why || unable(e, o.typing) || (o.typing ? untypable(e, o.text) : null);
    if (why) return { why };
    for (const f of frames) {
      const hidden = unseen(f);
      if (hidden) return { why: 'is in a frame that ' + hidden };
    }
    let moved = o.unsteady; // it was not where the mouse went
    if (o.scroll) {
      for (const n of [...frames, seat(t.e)]) {
        if (!inView(n) || point(t.e, frames).why) { n.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' }); moved = true; }
      }
    }
    if (!await rote.still(seat(t.e), moved)) return { why: 'is moving' };
    const p = point(t.e, frames);
    return p.why ? { why: p.why } : { x: p.x, y: p.y, e, over: t.e };
  }

  // through takes a point inside a frame of another origin to this document.
  async function through(f, x, y, o) {
    const frames = [f];
    for (let w = f.ownerDocument.defaultView; w !== window; w = w.parent) frames.unshift(w.frameElement);
    for (const n of frames) {
      const hidden = unseen(n);
      if (hidden) return { why: 'is in a frame that ' + hidden };
    }
    let at = toTop(x, y, frames), moved = false;
    if (o.scroll && (at.off || at.cover)) {
      for (const n of frames) n.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      const p = outside(f, x, y), v = f.ownerDocument.defaultView; // of a frame larger than the view, the point counts
      v.scrollBy({ left: clamp(p.x, v.innerWidth), top: clamp(p.y, v.innerHeight), behavior: 'instant' });
      moved = true;
    }
    if (!await rote.still(f, moved)) return { why: 'is in a frame that is moving' };
    at = toTop(x, y, frames);
    if (at.off) return { why: 'is outside the visible page' };
    if (at.cover) return { why: 'is in a frame that is covered by ' + describe(at.cover) };
    return { ok: true, ...at };
  }

  // clamp is how far to scroll for a point to come from outside to the middle.
  const clamp = (at, size) => at < 0 || at > size ? at - size / 2 : 0;

  // --- waiting

  // act waits until a match of the selector is actionable and returns where. It
  // gives up after a slice of time with the reason, so that the caller always
  // knows the latest one.
  async function act(selector, o) {
    const end = performance.now() + o.slice;
    for (;;) {
      const found = all(selector, 1000);
      let first = null, skipped = 0;
      for (const f of found) {
        const r = await judge(f, o);
        if (!r.why) {
          globalThis.roteTarget = r.e;
          if (o.press) rote.arm(r.e, r.over, found.windows);
          return { ok: true, x: r.x, y: r.y, matches: found.length, skipped };
        }
        first ??= r.why;
        if (++skipped >= 50 && performance.now() >= end) break; // of many, as many as the time allows
      }
      if (performance.now() >= end) return { ok: false, matches: found.length, why: first };
      await change();
    }
  }

  // change waits for the document to change, 50 ms at most: style alone may
  // change without a mutation.
  function change() {
    return new Promise(done => {
      const finish = () => { clearTimeout(t); o.disconnect(); done(); };
      const o = new MutationObserver(() => requestAnimationFrame(finish));
      const t = setTimeout(finish, 50);
      o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  }

  // present waits until something matches, visible or not.
  async function present(selector, slice) {
    const end = performance.now() + slice;
    for (;;) {
      const found = all(selector, 1);
      if (found.length) { globalThis.roteTarget = found[0].e; return true; }
      if (performance.now() >= end) return false;
      await change();
    }
  }

  // --- what can be typed into

  // untypable is why text cannot be put into e; without text, why none can.
  function untypable(e, text) {
    if (e.isContentEditable || e.localName === 'textarea') return null;
    if (e.localName === 'select') return text === undefined || option(e, text) ? null : `has no option ${JSON.stringify(text)} ${offer(e)}`;
    if (e.localName !== 'input') return 'is no field for text (' + e.localName + ')';
    if (/^(checkbox|radio|button|submit|reset|image|file)$/.test(e.type)) return `is an input of type ${e.type}, which takes no text`;
    return null;
  }

  // choices are what a person can choose.
  const choices = e => [...e.options].filter(o => !o.disabled && !o.parentElement.disabled);

  // option is the one that a text means: by label, by value, else by its text.
  function option(e, text) {
    const all = choices(e);
    return all.find(o => o.label.trim() === text) || all.find(o => o.value === text) || all.find(o => o.text.trim() === text.trim());
  }

  // offer lists what there is to choose.
  function offer(e) {
    const labels = choices(e).map(o => JSON.stringify(o.label.trim()));
    if (!labels.length) return '(there is nothing to choose yet)';
    return '(it has ' + labels.slice(0, 20).join(', ') + (labels.length > 20 ? `, and ${labels.length - 20} more)` : ')');
  }

  // --- scrolling

  // settled waits until a smooth scroll has come to rest, 3 s at most.
  async function settled(read) {
    let last = read(), same = 0;
    for (const end = performance.now() + 3000; performance.now() < end && same < 3;) {
      await rote.frame();
      const now = read();
      same = now[0] === last[0] && now[1] === last[1] ? same + 1 : 0;
      last = now;
    }
  }

  async function scroll(o) {
    const e = o.element ? globalThis.roteTarget : null;
    const read = () => e ? [e.scrollLeft, e.scrollTop] : [window.scrollX, window.scrollY];
    const behavior = o.smooth ? 'smooth' : 'instant';
    if (!e && (o.x !== null || o.y !== null)) window.scrollTo({ left: o.x ?? window.scrollX, top: o.y ?? window.scrollY, behavior });
    if (o.smooth) await settled(read);
    if (o.dx || o.dy) (e ?? window).scrollBy({ left: o.dx ?? 0, top: o.dy ?? 0, behavior });
    else if (e) e.scrollIntoView({ block: 'center', behavior });
    if (o.smooth) await settled(read);
  }

  // --- reading

  function lookup(from, name) {
    if (from === 'meta') {
      for (const m of document.querySelectorAll('meta')) {
        if (m.name === name || m.getAttribute('property') === name) return m.content;
      }
      return null;
    }
    try { return window[from].getItem(name); } catch { return null; } // an opaque origin has no storage
  }

  function mirror(key, text) {
    try { sessionStorage.setItem(key, text); } catch { /* no storage here, or the quota is full */ }
  }

  const html = selector => selector ? { html: globalThis.roteTarget.outerHTML, matches: all(selector, 1000).length }
    : { html: document.documentElement?.outerHTML ?? '', matches: 0 };

  // --- before the run

  // rehearse draws what most pages have and leaves nothing of it.
  async function rehearse() {
    const stage = document.createElement('div');
    stage.innerHTML = '<h1>Aa</h1><p>Aa <b>Aa</b> <input value=Aa> <button>Aa</button> <a href=#>Aa</a></p><pre>Aa</pre>';
    document.body.append(stage);
    await rote.frame();
    await rote.frame();
    stage.remove();
    await rote.frame();
  }

  return { rehearse, act, through, present, scroll, lookup, mirror, html,
    inner: { all, documentIn, describe, up, hit, serves, target, unable, untypable, point, inView, option } };
})();
