// Runs in the helper's world, on demand: reads the values that the page holds and that a
// request could have been made of. No entry is longer than longest characters, and all
// together are not longer than room.
(limits => {
  'use strict';
  const { longest, most } = limits;
  let room = limits.room;
  const collect = add => {
    const values = {};
    let count = 0;
    add((name, value) => {
      if (!name || !value || name in values || value.length > longest || count >= most || room < name.length + value.length) return;
      room -= name.length + value.length;
      count++;
      values[name] = value;
    });
    return values;
  };
  const quote = text => '"' + text.replace(/["\\]/g, '\\$&').replace(/[\n\r\f]/g, c => '\\' + c.charCodeAt(0).toString(16) + ' ') + '"';

  const metas = collect(add => {
    for (const m of document.querySelectorAll('meta[content]')) add(m.name || m.getAttribute('property'), m.content);
  });

  // The selectors do not depend on the values, which may change.
  const hidden = collect(add => {
    let left = 10 * most;
    for (const e of document.querySelectorAll('input[type="hidden"][name]')) {
      if (left-- < 0) return;
      const own = `input[type="hidden"][name=${quote(e.name)}]`, selectors = [own];
      for (const name of ['id', 'name', 'action']) {
        const value = e.form?.getAttribute(name);
        if (value) selectors.push(`form[${name}=${quote(value)}] ${own}`);
      }
      const selector = selectors.find(s => s.length < 500 && document.querySelector(s) === e);
      if (selector) add(selector, e.value);
    }
  });

  const entries = storage => collect(add => {
    try {
      for (let i = 0; i < Math.min(self[storage].length, 10 * most); i++) add(self[storage].key(i), self[storage].getItem(self[storage].key(i)));
    } catch { /* an opaque origin has no storage */ }
  });
  return { metas, hidden_fields: hidden, session_storage: entries('sessionStorage'), local_storage: entries('localStorage') };
})
