// Browser shortcuts such as F5. The page may handle the key itself, and then the browser
// does not act on it.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const modifier = event => /^(Alt|Control|Shift|Meta)$/.test(event.key);
  let waiting = false, last = null, kept = false;

  // This listener runs before all listeners of the page, which could stop the event.
  addEventListener('keydown', event => { if (waiting && !modifier(event)) { waiting = false; last = event; } }, true);

  // watchKey watches the next key. It adds a listener that prevents the browser's default
  // action. That listener runs after those of the page, which see an unchanged event.
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

  // keyUsed reports whether the page has prevented the default action of the key.
  const keyUsed = () => !!last && last.defaultPrevented && !kept;

  // readyForKeys waits until the page takes keys.
  function readyForKeys() {
    rote.keepClipboard();
    return rote.drawn();
  }

  return { watchKey, keyUsed, readyForKeys };
})());
