// Scrolls to elements, so that nothing covers them.
Object.assign(rote.inner, (() => {
  'use strict';
  const { describe, up, seat, unseen, holder, boxes, point, within, toTop, outside } = rote.inner;

  const inView = e => {
    const r = e.getBoundingClientRect(), v = e.ownerDocument.defaultView;
    return r.top >= 0 && r.left >= 0 && r.bottom <= v.innerHeight && r.right <= v.innerWidth;
  };

  // Of an element that is larger than its view, the visible part is enough.
  const block = r => r.h > r.view.innerHeight ? 'nearest' : 'center';
  const inline = r => r.w > r.view.innerWidth ? 'nearest' : 'center';

  // center scrolls all scrollers around e so that e is in the middle.
  function center(e) {
    const n = holder(e), b = n.getBoundingClientRect(), r = { w: b.width, h: b.height, view: n.ownerDocument.defaultView };
    n.scrollIntoView({ block: block(r), inline: inline(r), behavior: 'instant' });
    if (within(n, seat(e) ?? e)) return;
    for (const s of scrollers(e)) put(s, () => middle(e, s), .5); // n contains e and may be large
  }

  const scrolls = (n, x) => {
    const s = getComputedStyle(n), over = x ? s.overflowX : s.overflowY;
    const root = n === n.ownerDocument.scrollingElement;
    return (x ? n.scrollWidth > n.clientWidth : n.scrollHeight > n.clientHeight) && (root ? over !== 'hidden' : /auto|scroll/.test(over));
  };

  // scrollers are the scrollable elements around e, the inner ones first, including the
  // documents around its frame.
  function scrollers(e) {
    const found = [];
    for (let n = e; n; n = up(n) ?? n.ownerDocument.defaultView.frameElement) {
      const root = n === n.ownerDocument.documentElement ? n.ownerDocument.scrollingElement : null;
      if (n === n.ownerDocument.scrollingElement && !root) continue; // in quirks mode the body scrolls the document
      const s = root ?? n;
      if (s !== e && (scrolls(s, false) || scrolls(s, true))) found.push(s);
    }
    return found;
  }

  // middle is the middle of e in the coordinates of the scroller's document.
  function middle(e, scroller) {
    const r = boxes(seat(e))[0] ?? e.getBoundingClientRect();
    const x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
    return e.ownerDocument === scroller.ownerDocument ? { x, y } : lifted(e.ownerDocument.defaultView.frameElement, x, y, scroller);
  }

  // put scrolls so that the point of at() is at this fraction of the scroller's height.
  function put(scroller, at, part) {
    const v = scroller.ownerDocument.defaultView, root = scroller === scroller.ownerDocument.scrollingElement;
    const r = root ? { left: 0, top: 0, width: v.innerWidth, height: v.innerHeight } : scroller.getBoundingClientRect();
    const p = at(), left = p.x < r.left || p.x > r.left + r.width ? p.x - r.left - r.width / 2 : 0;
    scroller.scrollBy({ left, top: p.y - r.top - r.height * part, behavior: 'instant' });
  }

  // parts are fractions of a scroller's height at which an element may not be covered.
  const parts = [.5, .3, .7, .15, .85, .06, .94];
  const sweepTime = 400; // ms between two searches for a place where nothing covers it
  const swept = new WeakMap();

  // freed scrolls e to a place where free() is true: it tries each scroller in turn, the
  // outer ones first, because covers mostly belong to the page. The page only sees the
  // final position.
  function freed(e, at, free, cover) {
    if (performance.now() - (swept.get(e) ?? -Infinity) < sweepTime) return;
    swept.set(e, performance.now());
    for (const s of scrollers(e).toReversed()) {
      if (!passes(cover(), s)) continue;
      const { scrollLeft, scrollTop } = s;
      for (const part of parts) {
        put(s, () => at(s), part);
        if (free()) return;
      }
      s.scrollTo({ left: scrollLeft, top: scrollTop, behavior: 'instant' });
    }
  }

  // passes reports whether scrolling may uncover an element: the cover does not scroll
  // with it, and leaves a part of the scroller free.
  function passes(cover, scroller) {
    if (!cover) return false;
    let stays = false, box = cover;
    for (let n = cover; n && n !== scroller; n = up(n)) {
      if (/fixed|sticky/.test(getComputedStyle(n).position)) [stays, box] = [true, n];
    }
    if (!stays && within(cover, scroller)) return false;
    const v = cover.ownerDocument.defaultView, r = box.getBoundingClientRect();
    return r.top > 1 || r.bottom < v.innerHeight - 1 || r.left > 1 || r.right < v.innerWidth - 1;
  }

  // bring scrolls e to where it can be acted on. It reports whether anything may have
  // moved.
  function bring(e, frames) {
    const now = point(e, frames);
    const larger = n => { const r = n.getBoundingClientRect(), v = n.ownerDocument.defaultView; return r.width > v.innerWidth || r.height > v.innerHeight; };
    const all = [...frames, holder(e)];
    if (!now.why && all.every(n => inView(n) || larger(n))) return false;
    for (const n of frames) center(n);
    center(e);
    let p = point(e, frames);
    if (p.cover) freed(e, s => middle(e, s), () => !(p = point(e, frames)).why, () => p.cover);
    return true;
  }

  // through converts a point in a frame of another origin to one in this document.
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
      const p = outside(f, x, y), v = f.ownerDocument.defaultView; // the frame may be larger than the viewport, so the point counts
      v.scrollBy({ left: clamp(p.x, v.innerWidth), top: clamp(p.y, v.innerHeight), behavior: 'instant' });
      moved = true;
      at = toTop(x, y, frames);
      if (at.cover) freed(f, s => lifted(f, x, y, s), () => !(at = toTop(x, y, frames)).off && !at.cover, () => at.cover);
    }
    if (!await rote.still(f, moved)) return { why: 'is in a frame that is moving' };
    at = toTop(x, y, frames);
    if (at.off) return { why: 'is outside the visible page' };
    if (at.cover) return { why: 'is in a frame that is covered by ' + describe(at.cover) };
    return { ok: true, ...at };
  }

  // lifted is a point of a frame in the coordinates of the scroller's document.
  function lifted(f, x, y, scroller) {
    for (;; f = f.ownerDocument.defaultView.frameElement) {
      ({ x, y } = outside(f, x, y));
      if (f.ownerDocument === scroller.ownerDocument) return { x, y };
    }
  }

  // clamp is how far to scroll so that a point outside comes to the middle.
  const clamp = (at, size) => at < 0 || at > size ? at - size / 2 : 0;

  return { inView, center, bring, through };
})());
