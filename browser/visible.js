// Checks whether a person could act on an element: the result is the reason why not, or null.
Object.assign(rote.inner, (() => {
  'use strict';
  const { is, attribute, describe, up, flat } = rote.inner;
  const minOpacity = 0.1; // less is invisible to a person
  const minBox = 2; // px
  const maxParts = 50; // parts of an element without a box of its own that are examined

  // seat is the element whose box counts for e: for an image map area, its image.
  const seat = e => e.localName !== 'area' ? e
    : [...e.getRootNode().querySelectorAll('img[usemap]')].find(i => i.useMap === '#' + e.closest('map')?.name);

  const boxless = e => getComputedStyle(e).display === 'contents';

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
    if (s.display !== 'contents' && !e.checkVisibility()) return 'is not rendered'; // contents with content-visibility: auto can be scrolled to
    if (clippedAway(s)) return 'is clipped away (clip)';
    for (let n = e; n; n = up(n)) if (n.inert) return 'is inert';
    const o = opacity(e);
    if (o <= minOpacity && !disguised(e)) return 'is transparent (opacity ' + Math.round(o * 100) / 100 + ')';
    if (!boxes(e).length) {
      const r = e.getBoundingClientRect();
      return `is too small to see (${Math.round(r.width)}×${Math.round(r.height)} px)`;
    }
    return null;
  }

  // clippedAway reports whether the deprecated property clip hides everything.
  function clippedAway(s) {
    const edges = /^rect\((.*)\)$/.exec(s.clip)?.[1].split(/,? /).map(parseFloat);
    return !!edges && /absolute|fixed/.test(s.position) && (edges[2] - edges[0] < minBox || edges[1] - edges[3] < minBox);
  }

  // opacity is the product of the opacities of e and of its ancestors.
  function opacity(e) {
    let product = 1;
    for (let n = e; n; n = up(n)) {
      const s = getComputedStyle(n);
      if (s.display === 'contents') continue; // has no box, so its opacity has no effect
      product *= +s.opacity;
      const f = /opacity\(([\d.]+)(%?)\)/.exec(s.filter);
      if (f) product *= f[2] ? f[1] / 100 : +f[1];
    }
    return product;
  }

  // disguised reports whether e is a transparent field in a visible box of about its size,
  // which a person takes for the field. A text field must also have a visible label there,
  // and is a trap if the keyboard or screen readers cannot reach it.
  function disguised(e) {
    const [r] = sized(e), text = e.isContentEditable || e.localName === 'textarea' || e.localName === 'input' && textTypes.test(e.type);
    if (!r || !text && !/^(input|select)$/.test(e.localName)) return false;
    if (text && e.tabIndex < 0) return false;
    for (let n = e, i = 0; n && i < maxAround; n = up(n)) {
      if (text && attribute(n, 'aria-hidden') === 'true') return false;
      if (n === e || boxless(n)) continue;
      if (!near(n.getBoundingClientRect(), r)) return false;
      if (!hidden(n)) {
        const drawn = drawnIn(n, r, e);
        if ((drawn.box || painted(n)) && (!text || drawn.text || named(e))) return true;
      }
      i++;
    }
    return false;
  }

  const textTypes = /^(text|search|email|url|tel|password|number)$/;
  const maxAround = 5; // boxes around a field that are examined

  // near reports whether a box contains the middle of another and is not much larger.
  function near(box, r) {
    const x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
    return box.left <= x && box.right >= x && box.top <= y && box.bottom >= y && box.height <= r.height + 64 && box.width <= 2 * r.width + 120;
  }

  const named = e => [...e.labels ?? [], ...(e.getAttribute('aria-labelledby') ?? '').split(/\s+/).map(id => id && e.getRootNode().getElementById?.(id))]
    .some(l => l && l.textContent.trim() && !hidden(l) && sized(l).length);

  // drawnIn says whether n contains visible text, and whether anything is drawn in the box r
  // of the field.
  function drawnIn(n, r, field) {
    const found = { text: false, box: false };
    const meets = b => b.left < r.right && b.right > r.left && b.top < r.bottom && b.bottom > r.top;
    let left = maxParts;
    const visit = n => {
      for (const m of flat(n)) {
        if (left-- <= 0) return;
        if (m.nodeType === Node.TEXT_NODE && m.data.trim()) {
          const at = sized(textRange(m));
          found.text ||= at.length > 0;
          found.box ||= at.some(meets);
        } else if (m.nodeType === Node.ELEMENT_NODE && m !== field && !hidden(m)) {
          found.box ||= painted(m) && meets(m.getBoundingClientRect());
          visit(m);
        }
      }
    };
    visit(n);
    return found;
  }

  const clear = color => /^transparent$|^rgba\(.*, 0\)$|\/ 0%?\)$/.test(color);

  // painted reports whether e itself draws something: a border, a background or an image.
  function painted(e) {
    if (/^(svg|img|canvas)$/.test(e.localName)) return true;
    const paints = s => !clear(s.backgroundColor) || s.backgroundImage !== 'none' || s.boxShadow !== 'none'
      || ['Top', 'Right', 'Bottom', 'Left'].some(side => parseFloat(s['border' + side + 'Width']) && !clear(s['border' + side + 'Color']));
    if (!boxless(e) && paints(getComputedStyle(e))) return true;
    const shows = s => s.content !== 'none' && s.content !== 'normal' && (paints(s) || /[^\s"]/.test(s.content));
    return shows(getComputedStyle(e, '::before')) || shows(getComputedStyle(e, '::after'));
  }

  // boxes are where e is visible. A link around floating content has no box of its own, nor
  // has an element with display: contents: they are visible where their contents are.
  function boxes(e) {
    const own = sized(e);
    return own.length ? own : partBoxes(e);
  }

  // partBoxes are the boxes of the contents of e.
  const partBoxes = e => parts(e, { left: maxParts });

  function parts(e, budget) {
    const found = [];
    for (const n of flat(e)) {
      if (budget.left-- <= 0) break;
      if (n.nodeType === Node.TEXT_NODE) {
        if (boxless(e)) found.push(...sized(textRange(n)));
      } else if (n.nodeType === Node.ELEMENT_NODE && !hidden(n)) {
        const own = sized(n);
        found.push(...(own.length ? own : parts(n, budget)));
      }
    }
    return found;
  }

  function hidden(e) {
    const s = getComputedStyle(e);
    return s.display === 'none' || s.visibility !== 'visible' || opacity(e) <= minOpacity;
  }

  function textRange(n) {
    const range = n.ownerDocument.createRange();
    range.selectNodeContents(n);
    return range;
  }

  // sized are the boxes of an element or range that are large enough to be visible. The box
  // of an SVG shape does not include its stroke, which may be all that is visible.
  function sized(of) {
    let all = [...of.getClientRects()];
    if (typeof of.isPointInStroke === 'function') {
      const half = strokeWidth(of) / 2;
      all = all.map(r => new DOMRect(r.x - half, r.y - half, r.width + 2 * half, r.height + 2 * half));
    }
    return all.filter(r => r.width >= minBox && r.height >= minBox);
  }

  // strokeWidth is how wide the stroke of an SVG shape is on the screen, in px.
  function strokeWidth(shape) {
    const s = getComputedStyle(shape), m = shape.getScreenCTM();
    return s.stroke === 'none' || !m ? 0 : parseFloat(s.strokeWidth) * Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
  }

  // holder is the element to scroll to and to observe for e: e itself, or for an element
  // without a box its first part with one, or the element around its text.
  function holder(e) {
    e = seat(e) ?? e;
    if (!boxless(e)) return e;
    const within = [...flat(e)].filter(n => n.nodeType === Node.ELEMENT_NODE && !hidden(n)).map(holder).find(n => n && !boxless(n));
    if (within) return within;
    for (e = up(e); e && boxless(e);) e = up(e);
    return e;
  }

  // unable is why a click on e, which is visible, would have no effect: e, or what it belongs
  // to, is disabled.
  function unable(e, typing) {
    for (let n = e, free = false; n; n = up(n)) {
      if (attribute(n, 'aria-disabled') === 'true') return 'is disabled (aria-disabled)';
      if (free) continue;
      if (isControl(n) && is(n, ':disabled')) return n === e ? 'is disabled' : `is in ${describe(n)}, which is disabled`;
      const control = n.localName === 'label' && n.control;
      if (control && control.matches(':disabled,[aria-disabled="true"]')) return `is the label of ${describe(control)}, which is disabled`;
      free = isControl(n) || n.localName === 'label' || is(n, 'a[href],summary'); // handles the click, whatever contains it
    }
    return typing && e.readOnly && !e.isContentEditable ? 'is read-only' : null;
  }

  // isControl reports whether e is an element that can be disabled. A fieldset is not,
  // because it disables the controls in it.
  const isControl = e => /^(button|input|select|textarea|option|optgroup)$/.test(e.localName) || e.localName.includes('-') && e.matches(':disabled');

  // labels are the labels that a person clicks instead of a checkbox or radio button that
  // they hide.
  const labels = e => e.localName === 'input' && /^(checkbox|radio)$/.test(e.type) && e.isConnected ? [...e.labels ?? []].filter(l => !unseen(l)) : [];

  // target is the element to act on for e: itself, or its visible label.
  function target(e, typing) {
    const why = unseen(e), [label] = why && !typing ? labels(e) : [];
    return label ? { e: label, why: null } : { e, why };
  }

  return { seat, holder, unseen, clippedAway, boxes, partBoxes, unable, isControl, labels, target };
})());
