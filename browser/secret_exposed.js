// Runs in the helper's world, on demand, before an operation that reads: finds a place of the
// view's documents that holds one of the secrets, whole or at least half of it and six
// characters. secrets are objects with a name, texts, and fields: whether only fields count.
// The result is the name of the secret and a description of the place; null if none holds one.
// tested is what a selector compares: names of attributes ("*": any) and whether it asks for what
// fields hold. If it is given, only these are searched.
((secrets, tested) => {
  'use strict';
  const { all, describe } = rote.inner;
  const least = 6;

  // shares reports whether a value has at least half of a secret. Each part of that length
  // contains one whole block, which is searched and then extended.
  function shares(value, secret) {
    const need = Math.max(least, Math.ceil(secret.length / 2)), size = Math.ceil(need / 2);
    for (let i = 0; i + size <= secret.length; i += size) {
      const block = secret.slice(i, i + size);
      for (let at = value.indexOf(block); at >= 0; at = value.indexOf(block, at + 1)) {
        let left = 0, right = size;
        while (i > left && at > left && secret[i - left - 1] === value[at - left - 1]) left++;
        while (i + right < secret.length && secret[i + right] === value[at + right]) right++;
        if (left + right >= need) return true;
      }
    }
    return false;
  }
  const holds = (value, secret) => value.includes(secret) || secret.length >= least && shares(value, secret);

  // escaped are the ways in which HTML writes a text, in texts and in attributes.
  function escaped(text) {
    const written = set => text.replace(set, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\u00a0': '&nbsp;' })[c]);
    return [...new Set([text, written(/[&<>\u00a0]/g), written(/[&"\u00a0]/g), written(/[&<>"\u00a0]/g)])];
  }

  // compared returns the attributes that the selector compares.
  function compared() {
    const names = tested.attributes.includes('*') ? null : tested.attributes;
    const having = names ? names.map(n => `[${CSS.escape(n)}]`).join() || ':not(*)' : '*';
    return all(having, Infinity).flatMap(({ e }) => [...e.attributes].filter(a => !names || names.includes(a.localName.toLowerCase()))
      .map(a => ({ where: describe(e), value: a.value })));
  }

  const found = !tested || tested.values ? all('input,textarea,[contenteditable]', Infinity) : [];
  const held = found.map(({ e }) => ({ where: describe(e), value: e.value ?? e.textContent }));
  const boxes = found.filter(({ e }) => e.maxLength === 1);
  if (boxes.length) held.push({ where: describe(boxes[0].e), value: boxes.map(({ e }) => e.value).join('') });
  if (tested) {
    held.push(...compared());
    for (const { name, texts } of secrets) {
      const at = held.find(h => h.value && texts.some(text => holds(h.value, text)));
      if (at) return { name, where: at.where };
    }
    return null;
  }
  let href = location.href.replaceAll('+', ' ');
  try { href = decodeURIComponent(href); } catch { /* a page may write a % of its own */ }
  const markup = found.roots.map(r => r.documentElement ? r.documentElement.outerHTML : r.innerHTML ?? '');
  markup.push(href, location.href, ...found.roots.map(r => (r.documentElement ?? r).textContent)); // also divided among elements
  for (const { name, texts, fields } of secrets) {
    for (const text of texts) {
      const at = held.find(h => h.value && holds(h.value, text));
      if (at) return { name, where: at.where };
      if (fields || text.length < least) continue;
      const written = escaped(text);
      if (markup.some(html => written.some(w => holds(html, w)))) return { name, where: 'the page' };
    }
  }
  return null;
})
