// Detects which elements move and when they have come to rest.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { up } = rote.inner;

  // frame waits for the next animation frame. Its result is false if none came for too long.
  const frame = () => new Promise(done => {
    const t = setTimeout(() => done(false), lull()); // a hidden page has none
    requestAnimationFrame(() => { clearTimeout(t); done(true); });
  });

  // drawn waits until the document was painted. A key that scrolls before then has no
  // effect, because Chromium starts the movement and drops it.
  async function drawn() {
    if (performance.getEntriesByType('paint').length) return;
    await frame();
    await frame();
  }

  // Movement by scripts is no animation, but it changes styles or scrolls. Both are recorded
  // from the start of each document, so that a page at rest costs no wait; in a shadow root,
  // from the first search on.
  const restlessTime = 100; // ms, which is 6 frames at 60 Hz
  const slowest = 200; // ms from one frame to the next
  const watched = new WeakSet();
  let lastMove = -Infinity, pace = 0; // ms between the last movements
  const note = () => {
    const now = performance.now(), gap = now - lastMove;
    pace = gap <= slowest ? Math.max(gap, pace / 2) : 0;
    lastMove = now;
  };

  // lull is how long nothing must move for the page to be at rest. On a slow machine frames
  // are rare, and a movement has gaps.
  const lull = () => Math.max(restlessTime, 3 * pace);

  function watch(root) {
    if (watched.has(root)) return;
    watched.add(root);
    new MutationObserver(note).observe(root, { subtree: true, attributes: true, attributeFilter: ['style', 'class', 'transform'] });
    root.addEventListener('scroll', note, { capture: true, passive: true });
    if (root !== document) note(); // earlier movement is not known
  }
  watch(document);

  // restless reports whether anything has moved recently that could carry e. The helper of
  // e's own window answers, if there is one.
  function restless(e) {
    const home = e.ownerDocument.defaultView.rote;
    if (home && home !== globalThis.rote) return home.restless(e);
    for (const n of line(e)) if (n.ownerDocument === e.ownerDocument) watch(n.getRootNode());
    return performance.now() - lastMove < lull() || window !== top && !!frameElement && parent.rote.restless(frameElement);
  }

  // line is e and all that contains it in the rendered tree: the slots it is assigned to, the
  // hosts of its shadow roots, its frames.
  function line(e) {
    const all = [];
    for (let n = e; n; n = up(n) ?? n.ownerDocument.defaultView.frameElement) all.push(n);
    return all;
  }

  // opaque reports whether e may be a component with a closed shadow root, whose animations
  // cannot be listed.
  const opaque = e => e.localName.includes('-') && !e.shadowRoot && e.matches(':defined');

  // still waits until the box of e was the same for two frames. It only waits for elements
  // that may be moving: because e was just scrolled to, or something is animated or has
  // moved recently. An animation that is about to start counts as movement. A frame without
  // progress of the timeline does not count, because a running animation moves nothing then:
  // in a busy renderer, two frames can have the same time.
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
