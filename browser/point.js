// Finds points where an element can be hit, in the coordinates of the top viewport.
Object.assign(rote.inner, (() => {
  'use strict';
  const { is, describe, up, seat, boxes, partBoxes, isControl } = rote.inner;

  // hit is the topmost element at a point of e's document, through open shadow roots. For
  // slotted text the browser returns the host; hit returns the slot.
  function hit(doc, x, y) {
    let n = doc.elementFromPoint(x, y);
    while (n && n.shadowRoot) {
      const m = n.shadowRoot.elementFromPoint(x, y);
      if (m && m !== n) { n = m; continue; }
      const text = [...n.childNodes].find(t => t.nodeType === Node.TEXT_NODE && t.assignedSlot && covers(t, x, y));
      return text ? text.assignedSlot : n;
    }
    return n;
  }

  function covers(text, x, y) {
    const range = text.ownerDocument.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].some(r => x >= r.left - 1 && x <= r.right + 1 && y >= r.top - 1 && y <= r.bottom + 1); // the browser rounds coordinates
  }

  const within = (n, e) => {
    for (; n; n = n.assignedSlot || n.parentNode || n.host) if (n === e) return true;
    return false;
  };

  // clickTarget is the button, link, field or label that handles a click on n.
  const takes = 'a[href],button,input,select,textarea,summary,label,' +
    '[role=button],[role=link],[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option]';
  const clickTarget = n => {
    while (n && !is(n, takes)) n = up(n);
    return n;
  };

  // serves reports whether a click on n is a click on e: n is in e or its label, or in the
  // same button or link.
  const serves = (n, e) => {
    if (within(n, e)) return true;
    const of = clickTarget(n);
    return !!of && (of.localName === 'label' && of.control === e || of !== e && of === clickTarget(e));
  };

  // idle is why a click on n, which is in e, would have no effect on e: n belongs to a
  // disabled control, or to a link or button in a label, which handles the click itself.
  function idle(n, e) {
    for (; n && n !== e; n = up(n)) {
      if (isControl(n) && n.matches(':disabled')) return `is disabled at every place that shows (${describe(n)})`;
      if (e.localName === 'label' && n !== e.control && is(n, 'a[href],button,input,select,textarea')) return 'is covered by ' + describe(n);
    }
    return null;
  }

  // outside converts a point of a frame to one of the document around it. Frames may be
  // scaled, as previews are; for a side that is not, only a fraction of a pixel is lost.
  function outside(f, x, y) {
    const r = f.getBoundingClientRect(), s = getComputedStyle(f), m = turned(f);
    x += f.clientLeft + parseFloat(s.paddingLeft);
    y += f.clientTop + parseFloat(s.paddingTop);
    if (m) { // relative to the middle, which the bounding box shares
      const p = m.transformPoint({ x: x - f.offsetWidth / 2, y: y - f.offsetHeight / 2 });
      return { x: (r.left + r.right) / 2 + p.x, y: (r.top + r.bottom) / 2 + p.y };
    }
    const along = (at, size, full) => at * (Math.abs(size - full) < 1 ? 1 : size / full);
    return { x: r.left + along(x, r.width, f.offsetWidth), y: r.top + along(y, r.height, f.offsetHeight) };
  }

  // turned is the transformation of e without its translation if e is rotated, skewed or
  // mirrored. Perspective is not supported.
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

  // toTop converts a point of an element's frame to one of the top viewport, and says
  // whether something covers the frame there.
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

  // The points to try in a box, as fractions of its width and height: first in the middle
  // and around it, then everywhere. An image map area or a shape is somewhere in its box.
  const around = [[.5, .5], [.25, .5], [.75, .5], [.5, .25], [.5, .75]];
  const raster = n => Array.from({ length: n * n }, (_, i) => [(i % n + .5) / n, (Math.floor(i / n) + .5) / n]);
  const maxBoxes = 20; // boxes of one element in which points are tried

  // clip is the part of the viewport in which e can be visible: the intersection of the
  // boxes around it that clip their contents.
  function clip(e) {
    const v = e.ownerDocument.defaultView, c = { left: 0, top: 0, right: v.innerWidth, bottom: v.innerHeight };
    let position = getComputedStyle(e).position;
    for (let n = up(e); n && n !== e.ownerDocument.documentElement; n = up(n)) {
      const s = getComputedStyle(n);
      if (s.display === 'contents') continue;
      const holds = s.transform !== 'none' || s.filter !== 'none' || s.perspective !== 'none' || /paint|layout|strict|content/.test(s.contain);
      if (position === 'fixed' && !holds || position === 'absolute' && !holds && s.position === 'static') continue;
      position = s.position;
      if (s.overflowX === 'visible' && s.overflowY === 'visible' || n === e.ownerDocument.body) continue;
      const r = n.getBoundingClientRect();
      c.left = Math.max(c.left, r.left + n.clientLeft);
      c.top = Math.max(c.top, r.top + n.clientTop);
      c.right = Math.min(c.right, r.right);
      c.bottom = Math.min(c.bottom, r.bottom);
    }
    return c;
  }

  // shown are the parts of e's boxes that can be visible.
  function shown(e, of = boxes(e)) {
    const v = e.ownerDocument.defaultView, page = { left: 0, top: 0, right: v.innerWidth, bottom: v.innerHeight };
    const all = of.slice(0, maxBoxes), inside = c => all.map(r => meet(r, c)).filter(Boolean);
    const clipped = inside(clip(e));
    return clipped.length ? clipped : inside(page); // the clip is only an estimate
  }

  function meet(r, c) {
    const left = Math.max(c.left, r.left), right = Math.min(c.right, r.right), top = Math.max(c.top, r.top), bottom = Math.min(c.bottom, r.bottom);
    return right - left < 1 || bottom - top < 1 ? null : { left, top, right, bottom };
  }

  // places are the points to try for e, the best first.
  function* places(e) {
    const rs = shown(seat(e)), shape = e.localName === 'area' || typeof e.isPointInStroke === 'function';
    const at = (r, [fx, fy]) => [r.left + (r.right - r.left) * fx, r.top + (r.bottom - r.top) * fy];
    for (const r of rs) for (const f of around) yield at(r, f);
    for (const r of shown(e, partBoxes(e))) for (const f of around) yield at(r, f);
    if (typeof e.isPointInStroke === 'function') yield* along(e);
    const everywhere = raster(shape ? 40 : 10);
    for (const r of rs) for (const f of everywhere) yield at(r, f);
  }

  // along are points on the line of an SVG shape.
  function* along(shape) {
    const m = shape.getScreenCTM(), length = m ? shape.getTotalLength() : 0;
    for (let i = 0; length && i < 40; i++) {
      const p = shape.getPointAtLength(length * (i + .5) / 40).matrixTransform(m);
      yield [p.x, p.y];
    }
  }

  // point finds where e can be hit, or checks the given point only.
  function point(e, frames, place) {
    const doc = e.ownerDocument;
    let cover = null, why = null, tried = 0, same = true;
    for (const [x, y] of place ? [[place.x, place.y]] : places(e)) {
      if (tried++ >= around.length && same && veils(cover, e)) break;
      const n = hit(doc, x, y);
      if (!n) continue;
      const ours = serves(n, e), useless = ours ? idle(n, e) : null, at = ours && !useless ? toTop(x, y, frames) : {};
      if (at.x !== undefined) return { x: at.x, y: at.y, on: n };
      if (at.off) continue;
      same &&= !cover || cover === (at.cover ?? n);
      if (useless) why ??= useless;
      else cover ??= at.cover ?? n;
    }
    if (why) return { why };
    if (!cover) return { why: tried ? 'cannot be hit' : 'is outside the visible page' };
    if (getComputedStyle(e).pointerEvents === 'none') return { why: 'takes no pointer events (pointer-events: none)' };
    return { why: within(e, cover) ? 'is clipped or takes no clicks at any visible point' : 'is covered by ' + describe(cover), cover };
  }

  // veils reports whether the cover hides all of e that could be visible, so that no other
  // points need to be tried.
  function veils(cover, e) {
    if (!cover || within(e, cover) || cover.ownerDocument !== e.ownerDocument || typeof cover.isPointInStroke === 'function') return false;
    const c = cover.getBoundingClientRect();
    return shown(seat(e)).every(r => c.left <= r.left && c.right >= r.right && c.top <= r.top && c.bottom >= r.bottom);
  }

  return { hit, within, serves, point, toTop, outside };
})());
