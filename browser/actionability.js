// Waits for elements that can be acted on, scrolls and reads.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { all, holder, unseen, unable, labels, taker, aside, enter, isSet, fileInput, point, center, bring, through } = rote.inner;

  // judge returns where e can be acted on, or why it cannot be. For typing, unsure is why
  // only a click shows whether it leads to a field.
  async function judge({ e, frames }, o) {
    const input = o.files && fileInput(e, o.files);
    if (input) return { ...input, frames, set: true };
    const t = o.typing ? taker(e, frames, o.text) : { why: unable(e, false), frames, field: e };
    const over = (o.typing ? [t.e ?? e] : [e, ...labels(e)]).filter(n => !unseen(n));
    const why = t.final ? t.why : (over.length ? null : unseen(e)) || t.why;
    if (why) return { why, final: t.final, list: t.list };
    frames = t.frames ?? frames;
    for (const f of frames) {
      const hidden = unseen(f);
      if (hidden) return { why: 'is in a frame that ' + hidden };
    }
    let first = null;
    for (const n of over) {
      const moved = o.scroll && bring(n, frames);
      const rests = await rote.still(holder(n), moved || o.unsteady); // unsteady: a press has missed it
      const p = rests ? point(n, frames) : rote.passing(holder(n), frames) ?? { why: 'is moving' };
      if (!p.why) return { x: p.x, y: p.y, on: p.on, e: t.field ?? e, over: n, frames, moving: !rests, unsure: t.unsure };
      first ??= p.why;
    }
    return { why: first };
  }

  // --- waiting

  // act waits until a match of the selector is actionable and returns where. After a slice
  // of time it returns the reason why there is none, so that the caller always knows the
  // latest one. final reports that no match ever will be actionable. seen is the last
  // reason, even if no element matches any more. options are the choices of a list that does
  // not have the wanted one, and unchanged is for how many ms all such lists have been the same.
  async function act(selector, o) {
    rote.keepClipboard();
    const end = performance.now() + o.slice;
    let seen = '';
    for (;;) {
      const found = all(selector, 1000);
      let first = null, skipped = 0, maybe = null, final = found.length > 0 && document.readyState !== 'loading';
      let options = null, unchanged = found.length ? Infinity : 0;
      const ready = r => {
        globalThis.roteTarget = r.e;
        globalThis.roteDrop = r.on;
        if (r.set) return { ok: true, set: true, matches: found.length, skipped };
        const clicked = !o.typing || !isSet(r.e);
        if (o.typing) enter(r.e, r.over, r.unsure);
        if (o.press && clicked) rote.arm(r.e, r.over, found.windows, r.frames, r.moving);
        const watched = !!o.press && !o.typing;
        if (watched) rote.expect(r.e, r.over, selector, found.map(f => f.e), found.windows);
        else rote.lost();
        return { ok: true, x: r.x, y: r.y, matches: found.length, skipped: r.skipped ?? skipped, clicked, watched, why: r.unsure };
      };
      for (const f of found) {
        const r = await sure(f, () => judge(f, o));
        if (!r.why && !r.unsure) return ready(r);
        maybe ??= r.why ? o.typing && await besides(f, r, o) : { ...r, skipped };
        final &&= r.final;
        unchanged = Math.min(unchanged, r.list?.unchanged ?? 0);
        options ??= first ? null : r.list?.labels;
        first ??= r.why;
        if (++skipped >= 50 && performance.now() >= end) break; // as many matches as the time allows
      }
      if (maybe) return ready(maybe);
      seen = first ?? seen;
      if (final || performance.now() >= end) return { ok: false, matches: found.length, why: first, seen, final, options, unchanged };
      await change();
    }
  }

  // besides is how to type into a match that cannot be clicked itself.
  async function besides(f, r, o) {
    const s = await sure(f, () => aside(f, r, n => judge(n, { ...o, typing: false })));
    return s?.why ? null : s;
  }

  // sure calls judge; the result is a reason if the element, or its frame, is removed
  // meanwhile.
  async function sure({ e, frames }, judging) {
    try {
      return await judging();
    } catch (error) {
      if (e.isConnected && e.ownerDocument.defaultView && frames.every(f => f.isConnected)) throw error;
      return { why: 'is no longer in the document' };
    }
  }

  // change waits until the document changes, 50 ms at most, because styles can change
  // without a mutation.
  function change() {
    return new Promise(done => {
      const finish = () => { clearTimeout(t); o.disconnect(); done(); };
      const o = new MutationObserver(() => requestAnimationFrame(finish));
      const t = setTimeout(finish, 50);
      o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  }

  // present waits until something matches, visible or not.
  async function present(selector, slice) {
    const end = performance.now() + slice;
    for (;;) {
      const found = all(selector, 1);
      if (found.length) { globalThis.roteTarget = found[0].e; return true; }
      if (performance.now() >= end) return false;
      await change();
    }
  }

  // --- scrolling

  // settled waits until a smooth scroll has ended, 3 s at most.
  async function settled(read) {
    let last = read(), same = 0;
    for (const end = performance.now() + 3000; performance.now() < end && same < 3;) {
      await rote.frame();
      const now = read();
      same = now[0] === last[0] && now[1] === last[1] ? same + 1 : 0;
      last = now;
    }
  }

  // scroll reports whether the element was there: it may have been removed since it was
  // found, maybe with its document.
  async function scroll(o) {
    const e = o.element ? globalThis.roteTarget : null;
    if (o.element && !e?.isConnected) return false;
    const read = () => e ? [e.scrollLeft, e.scrollTop] : [window.scrollX, window.scrollY];
    const behavior = o.smooth ? 'smooth' : 'instant';
    if (!e && (o.x !== null || o.y !== null)) window.scrollTo({ left: o.x ?? window.scrollX, top: o.y ?? window.scrollY, behavior });
    if (o.smooth) await settled(read);
    if (o.dx || o.dy) (e ?? window).scrollBy({ left: o.dx ?? 0, top: o.dy ?? 0, behavior });
    else if (e && holder(e) === e) e.scrollIntoView({ block: 'center', behavior });
    else if (e) center(e);
    if (o.smooth) await settled(read);
    return true;
  }

  // --- reading

  function lookup(from, name) {
    if (from === 'meta') {
      for (const m of document.querySelectorAll('meta')) {
        if (m.name === name || m.getAttribute('property') === name) return m.content;
      }
      return null;
    }
    try { return window[from].getItem(name); } catch { return null; } // an opaque origin has no storage
  }

  // storageKeys are the first keys of the page's sessionStorage.
  function storageKeys(most, longest) {
    const keys = [];
    try {
      for (let i = 0; i < Math.min(sessionStorage.length, most); i++) keys.push(sessionStorage.key(i));
    } catch { /* an opaque origin has no storage */ }
    return keys.map(k => k.length > longest ? k.slice(0, longest) + '…' : k);
  }

  function mirror(key, text) {
    try { sessionStorage.setItem(key, text); } catch { /* no storage here, or the quota is full */ }
  }

  // html is the outer HTML of the element that was found, or of the document; null if the
  // element was removed since, maybe with its document. With search, the first match is found
  // first; the result is null if nothing matches.
  function html(selector, search) {
    if (!selector) return { html: document.documentElement?.outerHTML ?? '', matches: 0 };
    const found = all(selector, 1000);
    if (search) globalThis.roteTarget = found[0]?.e;
    const e = globalThis.roteTarget;
    return e?.isConnected ? { html: e.outerHTML, matches: found.length } : null;
  }

  // --- before the run

  // rehearse renders what most pages contain, and removes it again. endRehearsal removes it
  // at once.
  let stage;
  async function rehearse() {
    stage = document.createElement('div');
    stage.innerHTML = '<h1>Aa</h1><p>Aa <b>Aa</b> <input value=Aa> <button>Aa</button> <a href=#>Aa</a></p><pre>Aa</pre>';
    document.body.append(stage);
    await rote.frame();
    await rote.frame();
    endRehearsal();
    await rote.frame();
  }
  function endRehearsal() { stage?.remove(); }

  return { rehearse, endRehearsal, act, through, present, scroll, lookup, storageKeys, mirror, html };
})());
