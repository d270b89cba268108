// The selector generator of the evidence before elements.js and selectors.js replaced it,
// for comparison: returns selectorOf.
(() => {
  'use strict';
  const maxText = 60, maxSelector = 150, holds = () => false, roots = [{ root: document }];
  const tests = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa'];
  const read = (e, name) => e.getAttribute(name) ?? '';
  const classes = e => read(e, 'class').split(/\s+/).filter(Boolean);
  const buttonInput = e => e.localName === 'input' && /^(submit|button|reset)$/.test(e.type);
  // --- a selector that matches only this element
  const unique = selector => {
    let n = 0;
    for (const { root } of roots) if ((n += root.querySelectorAll(selector).length) > 1) return false;
    return n === 1;
  };

  // volatile matches names that a build tool or the page's state generates, which will be
  // different the next time.
  const states = /^(active|open|opened|hover|focus|focused|selected|disabled|enabled|loading|hidden|visible|show|error)$/i;
  const volatile = name => /\d{4,}|^[:_]|^(ember|radix|react|mui|css|sc|jsx)-?|^(is|has)-/i.test(name) || states.test(name)
    || name.split(/[-_]/).some(p => p.length > 4 && /\d/.test(p.slice(0, -1)) && /[a-z]/i.test(p));

  const attribute = (name, value) => value && value.length <= maxText && !holds(value) && !/[\p{Cc}{}]/u.test(value)
    ? `[${name}="${value.replace(/["\\]/g, '\\$&')}"]` : null;

  // names are the simple selectors that match e, the most stable ones first.
  function names(e) {
    const tag = CSS.escape(e.localName), s = [], id = e.id && !holds(e.id) && '#' + CSS.escape(e.id);
    if (id && !volatile(e.id)) s.push(id);
    for (const a of tests) s.push(attribute(a, read(e, a)));
    const own = classes(e).filter(c => !volatile(c) && !holds(c)).slice(0, 6).map(c => '.' + CSS.escape(c));
    const some = (...names) => { for (const n of names) { const a = attribute(n, read(e, n)); if (a) s.push(tag + a); } };
    some('name', 'aria-label');
    for (const c of own) s.push(tag + c);
    some('placeholder', 'title', 'alt', 'for');
    if (buttonInput(e)) some('value');
    const notForSelectors = /^(#|javascript:)|[?&#;][^=]*(authorization|cookie|token|api-?key|secret|password|csrf|xsrf)[^=]*=/i;
    if (e.localName === 'a' && !notForSelectors.test(read(e, 'href'))) some('href');
    for (let i = 1; i < own.length; i++) for (let j = 0; j < i; j++) s.push(tag + own[j] + own[i]);
    some('type', 'role');
    if (e.type === 'radio' || e.type === 'checkbox') some('value'); // that of a text field is what was typed
    s.push(tag, id && volatile(e.id) ? id : null);
    return s.filter(n => n && n.length <= maxSelector);
  }

  function place(e) {
    const tag = CSS.escape(e.localName), same = [...e.parentNode.children].filter(n => n.localName === e.localName);
    return same.length > 1 ? `${tag}:nth-of-type(${same.indexOf(e) + 1})` : tag;
  }

  function selectorOf(e) {
    const own = names(e);
    const alone = own.find(unique);
    if (alone) return alone;
    for (let n = e.parentElement; n && n !== document.body; n = n.parentElement) {
      for (const above of names(n).slice(0, 4)) {
        const both = own.slice(0, 6).map(s => above + ' ' + s).find(unique);
        if (both && both.length <= maxSelector) return both;
      }
    }
    let path = place(e);
    for (let n = e.parentElement; n; n = n.parentElement) {
      if (unique(path)) return path.length <= maxSelector ? path : null;
      path = (names(n).find(unique) ?? place(n)) + ' > ' + path;
    }
    return unique(path) && path.length <= maxSelector ? path : null;
  }

  return selectorOf;
})()
