// What moves, and when it has come to rest.
Object.assign(globalThis.rote, (() => {
  'use strict';

  const frame = () => new Promise(done => {
    const t = setTimeout(done, lull()); // a hidden page paints no frame
    requestAnimationFrame(() => { clearTimeout(t); done(); });
  });

  // drawn waits until the document has been drawn. A key that scrolls it before
  // scrolls nothing: Chromium begins the movement and forgets it.
  async function drawn() {
    if (performance.getEntriesByType('paint').length) return;
    await frame();
    await frame();
  }

  // What scripts move, no animation tells of, but styles change and scrollers
  // scroll. Both are noted from the beginning of each document, so that a page
  // that rests costs no wait; in a shadow root, from the first search on.
  const restlessTime = 100; // ms; of 60 Hz it is 6 frames
  const slowest = 200; // ms from one frame to the next
  const watched = new WeakSet();
  let lastMove = -Infinity, pace = 0; // ms between the last moves
  const note = () => {
    const now = performance.now(), gap = now - lastMove;
    pace = gap <= slowest ? Math.max(gap, pace / 2) : 0;
    lastMove = now;
  };

  // lull is how long nothing has to move for the page to rest: on a slow machine
  // frames are few, and a movement has gaps.
  const lull = () => Math.max(restlessTime, 3 * pace);

  function watch(root) {
    if (watched.has(root)) return;
    watched.add(root);
    new MutationObserver(note).observe(root, { subtree: true, attributes: true, attributeFilter: ['style', 'class', 'transform'] });
    root.addEventListener('scroll', note, { capture: true, passive: true });
    if (root !== document) note(); // what was before is not known
  }
  watch(document);

  // restless tells whether anything has moved of late that could carry e. A frame
  // of the same origin knows best about itself.
  function restless(e) {
    const home = e.ownerDocument.defaultView.rote;
    if (home && home !== globalThis.rote) return home.restless(e);
    for (let n = e; n; n = n.host) watch(n = n.getRootNode());
    return performance.now() - lastMove < lull() || window !== top && !!frameElement && parent.rote.restless(frameElement);
  }

  // still waits until the box has been the same for two frames. The wait is
  // only for elements that can be moving: just scrolled to, or something is
  // animated or has moved of late. An animation that is about to begin counts as
  // movement.
  async function still(e, moved) {
    const animations = e.ownerDocument.getAnimations(), script = restless(e);
    if (!moved && !animations.length && !script) return true;
    const starting = () => animations.some(a => a.pending && a.effect?.target?.contains(e));
    let a = e.getBoundingClientRect();
    for (let i = 0, same = 0; i < 5; i++) {
      await frame();
      const b = e.getBoundingClientRect();
      same = a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height && !starting() ? same + 1 : 0;
      if (same === 2 || same === 1 && !animations.length && !script) return true;
      a = b;
    }
    return false;
  }

  return { frame, drawn, restless, still };
})());
