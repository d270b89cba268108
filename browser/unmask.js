// Runs in the helper's world after a screenshot of a page that is used afterwards: shows
// again what redact.js has hidden, without transitions.
() => {
  'use strict';
  const { getAttribute, setAttribute, removeAttribute } = Element.prototype; // a field of a form may have these names
  const masks = globalThis.roteMasks ?? new Map();
  for (const [e, style] of masks) e.style.cssText = (style ?? '') + ';transition: none !important';
  for (const e of masks.keys()) getComputedStyle(e).opacity; // applies the styles
  for (const [e, style] of masks) {
    if (style !== null) setAttribute.call(e, 'style', style);
    else if (getAttribute.call(e, 'style') !== null) removeAttribute.call(e, 'style');
    if (style && !e.style.length) e.style.cssText = style; // the page's policy forbids style attributes
  }
  delete globalThis.roteMasks;
  delete globalThis.roteSealed;
}
