// Where an element can be hit, in the coordinates of the top viewport.
Object.assign(rote.inner, (() => {
  'use strict';
  const { describe, up, seat, unseen, boxes } = rote.inner;

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

  return { hit, within, serves, point, inView, through };
})());
