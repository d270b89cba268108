// Runs in the helper's world, on demand: returns for how many ms the document, with its open
// shadow roots and frames of the same origin, has not changed. The first call begins to
// watch. Changes of style attributes do not count, because animations make them all the time.
// end reports that it is the last call.
end => {
  'use strict';
  const maxElements = 20000; // that are examined for shadow roots
  const watch = () => {
    const state = { last: performance.now() };
    const observer = new MutationObserver(changes => { if (changes.some(c => c.attributeName !== 'style')) state.last = performance.now(); });
    const observe = root => observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    const { all } = rote.inner, found = all('*', maxElements);
    observe(document);
    for (const { e } of found) if (e.shadowRoot) observe(e.shadowRoot);
    for (const w of found.windows) if (w && w !== window) observe(w.document);
    state.stop = () => observer.disconnect();
    return state;
  };
  const state = globalThis.roteQuiet ??= watch(), quiet = performance.now() - state.last;
  if (end) { state.stop(); delete globalThis.roteQuiet; }
  return quiet;
}
