// The keys that a browser with windows acts on, such as F5: the page may have a
// use of its own for them.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const modifier = event => /^(Alt|Control|Shift|Meta)$/.test(event.key);
  let waiting = false, last = null, kept = false;

  // It comes before any listener of the page, which might keep the event from it.
  addEventListener('keydown', event => { if (waiting && !modifier(event)) { waiting = false; last = event; } }, true);

  // watchKey watches the next key. The listener that keeps the browser from acting
  // on it comes after those of the page, which see the event as it is.
  function watchKey() {
    waiting = true;
    last = null;
    kept = false;
    addEventListener('keydown', function keep(event) {
      if (modifier(event)) return;
      removeEventListener('keydown', keep);
      if (event.defaultPrevented) return;
      kept = true;
      event.preventDefault();
    });
  }

  // keyUsed reports whether the page has used the key itself.
  const keyUsed = () => !!last && last.defaultPrevented && !kept;

  // readyForKeys waits until the page takes keys.
  function readyForKeys() {
    rote.keepClipboard();
    return rote.drawn();
  }

  return { watchKey, keyUsed, readyForKeys };
})());
