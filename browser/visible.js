// Judging: one reason why a person could not act on an element, or null.
Object.assign(rote.inner, (() => {
  'use strict';
  const { describe, up } = rote.inner;
  const minOpacity = 0.1; // what a person would call visible
  const minBox = 2; // px

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

  return { seat, unseen, boxes, unable, target };
})());
