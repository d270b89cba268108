// Detects lost clicks: an element that moves or is replaced while the mouse button is
// down gets no click event, although the press has reached it.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { all, serves } = rote.inner;
  const events = ['mousedown', 'blur', 'change', 'mouseup', 'click', 'auxclick', 'contextmenu'];
  let expected = null;

  // expect observes the next click in all windows that the helper can access. The click is
  // on e, or on over, which represents it. matches are all matches of its selector.
  function expect(e, over, selector, matches, windows) {
    for (const w of windows) for (const name of events) w.addEventListener(name, see, { capture: true, passive: false }); // they stay, like those of arm
    expected = { e, over, selector, text: e.textContent, before: new WeakSet(matches), down: null, up: false, reached: false, kept: null };
  }

  // see notes what an event says of the click that is expected, if one is.
  function see(event) {
    const c = expected;
    if (!c || !event.isTrusted) return;
    const on = event.composedPath()[0], ours = n => n.nodeType === Node.ELEMENT_NODE && (serves(n, c.over) || serves(n, c.e));
    if (event.type === 'mousedown') {
      if (!c.down) [c.down, c.at] = [event, c.over.getBoundingClientRect()];
    } else if (!c.down) return;
    else if (event.type === 'blur' || event.type === 'change') c.kept ??= c.e.isConnected;
    else if (ours(on)) c[event.type === 'mouseup' ? 'up' : 'reached'] = true;
    else if (event.type !== 'mouseup' && fate(c)) { // the click event is on a common ancestor of both places
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  // fate says how a click was lost; null if it was not. An element that is gone, hidden or
  // covered after the press has handled it, as menus do. So has one that was replaced, if
  // it has cancelled the press, unless it was replaced because a field lost the focus.
  function fate(c) {
    if (!c.down || c.reached || c.up || !c.e.ownerDocument.defaultView) return null;
    if (c.over.isConnected) {
      const now = c.over.getBoundingClientRect();
      return now.width && now.height && apart(c.at, now) ? 'moved away' : null;
    }
    return (c.kept || !c.down.defaultPrevented) && twin(c) ? 'was replaced' : null;
  }

  // twin is the element that has replaced the clicked one since.
  const twin = c => all(c.selector, 100).find(({ e }) => !c.before.has(e) && e.localName === c.e.localName && e.textContent === c.text);

  const apart = (a, b) => Math.abs(a.left - b.left) > 1 || Math.abs(a.top - b.top) > 1;

  // lost says how the last click was lost, or is null, after its events were dispatched.
  function lost() {
    const c = expected;
    expected = null;
    return c && fate(c);
  }

  return { expect, lost };
})());
