// What moves, and when it has come to rest.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { up } = rote.inner;

  // frame waits for the next frame, and tells when none has come for too long.
  const frame = () => new Promise(done => {
    const t = setTimeout(() => done(false), lull()); // a hidden page paints none
    requestAnimationFrame(() => { clearTimeout(t); done(true); });
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
    for (const n of line(e)) if (n.ownerDocument === e.ownerDocument) watch(n.getRootNode());
    return performance.now() - lastMove < lull() || window !== top && !!frameElement && parent.rote.restless(frameElement);
  }

  // line is e and all that it is drawn in: what it is slotted into, the hosts of its
  // shadow roots, its frames.
  function line(e) {
    const all = [];
    for (let n = e; n; n = up(n) ?? n.ownerDocument.defaultView.frameElement) all.push(n);
    return all;
  }

  // opaque reports whether e may be a component with a closed shadow root, of which
  // no animation tells.
  const opaque = e => e.localName.includes('-') && !e.shadowRoot && e.matches(':defined');

  // still waits until the box has been the same for two frames. The wait is
  // only for elements that can be moving: just scrolled to, or something is
  // animated or has moved of late. An animation that is about to begin counts as
  // movement. One that is running moves nothing while no frame comes, nor while
  // the timeline stands still: in a busy renderer, two frames can have one time.
  async function still(e, moved) {
    const all = line(e), roots = new Set(all.map(n => n.getRootNode())), unknown = restless(e) || all.some(opaque);
    const animations = [...roots].flatMap(root => root.getAnimations());
    if (!moved && !animations.length && !unknown) return true;
    const starting = () => animations.some(a => a.pending && all.includes(a.effect?.target));
    const watched = all.filter(n => n === e || n.ownerDocument !== e.ownerDocument && /^(iframe|frame|object)$/.test(n.localName));
    const box = () => watched.map(n => n.getBoundingClientRect()).flatMap(r => [r.x, r.y, r.width, r.height]).join();
    let before = box(), time = document.timeline.currentTime;
    for (let i = 0, same = 0; i < 5; i++) {
      const came = await frame(), now = box(), advanced = document.timeline.currentTime - time > 1; // ms
      time = document.timeline.currentTime;
      same = now === before && !starting() && (came && advanced || !animations.some(a => a.playState === 'running')) ? same + 1 : 0;
      if (same === 2 || same === 1 && !animations.length && !unknown) return true;
      before = now;
    }
    return false;
  }

  Object.assign(rote.inner, { line });
  return { frame, drawn, restless, still };
})());
