// The press of the mouse, watched: between the judgement of an element and the
// press, the page may move it or cover it. Only a press that reaches the element
// gets through to the page.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { describe, serves, hit } = rote.inner;
  const events = ['pointermove', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  let armed = null, last = null;

  // arm watches for the next press in all windows that we reach. over is where it
  // is to land: e, or the label that stands for it. frames are those that over is
  // in; when one moves, over moves with it. moving tells that over never rests:
  // then it is enough that the press reaches it.
  function arm(e, over, windows, frames, moving) {
    disarm();
    const places = () => [over, ...frames].map(n => n.getBoundingClientRect());
    const press = { landed: null, leaving: false }, before = places();
    press.judged = new Promise(done => { press.tell = done; });
    const judge = event => {
      if (!event.isTrusted) return;
      if (event.type === 'pointermove') {
        press.near = places();
        return;
      }
      if (press.landed === null) {
        if (event.type !== 'pointerdown' && event.type !== 'mousedown') return;
        const n = event.composedPath()[0];
        press.at = { x: event.clientX, y: event.clientY, on: n };
        if (press.leaving) press.landed = 'another page'; // a person sees it go, and presses nothing
        else if (n.nodeType !== 1) press.landed = 'the page';
        else if (!serves(n, over) && !serves(n, e)) press.landed = describe(n);
        else press.landed = !moving && moved(before, press.near ?? before, places(), over) ? 'it on the move' : '';
        press.tell(press.landed);
      }
      if (press.landed === '') return disarm();
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const each = change => { for (const w of windows) for (const name of events) w[change](name, judge, { capture: true, passive: false }); };
    const leave = event => { if (!event.destination.sameDocument && event.downloadRequest === null) press.leaving = true; };
    const around = windows.filter(w => holds(w, e.ownerDocument.defaultView));
    const leaves = change => { for (const w of around) w.navigation?.[change]('navigate', leave); };
    each('addEventListener');
    leaves('addEventListener');
    press.off = () => { each('removeEventListener'); leaves('removeEventListener'); };
    armed = last = press;
  }

  // moved reports whether an element, whose places with those of its frames are
  // given, has moved since it was judged, except for what the press itself does to
  // its looks: a button may shrink a little while it is held down.
  function moved(before, near, now, over) {
    const [from, to] = [near[0], now[0]], slack = Math.max(8, to.width / 4, to.height / 4);
    const pressed = over.matches(':active') && Math.abs(from.left - to.left) < slack && Math.abs(from.top - to.top) < slack;
    return before.some((r, i) => apart(r, near[i])) || near.some((r, i) => apart(r, now[i]) && !(pressed && i === 0));
  }

  // holds reports whether a window is v or one around it.
  const holds = (w, v) => {
    while (v !== w && v !== v.parent) v = v.parent;
    return v === w;
  };

  const apart = (a, b) => Math.abs(a.left - b.left) > 1 || Math.abs(a.top - b.top) > 1;

  function disarm() {
    armed?.off();
    armed = null;
  }

  // landed tells what the last press hit: '' for its element at rest, another's
  // name, or null for something that we do not reach. x and y are where it was.
  // armed is false in a document that waits for no press, because it has come
  // since.
  function landed(x, y) {
    if (!last) return { armed: false };
    if (last.landed !== null) return { armed: true, hit: last.landed };
    if (window !== top) return { armed: true, hit: null };
    // Unseen because another process has it, or because the page hid it from us.
    const n = hit(document, x, y);
    return { armed: true, hit: n && /^(iframe|frame|object|embed)$/.test(n.localName) && !n.contentDocument ? describe(n) : '' };
  }

  // pressed is landed once the press has come.
  const pressed = () => last.judged;

  // hovered reports whether the mouse is over the element that was found last, or
  // was until the page took it away.
  function hovered() {
    const e = globalThis.roteTarget;
    if (!e) return false; // the mouse has led to another document
    const over = n => n.matches(CSS.escape(n.localName) + ':hover'); // in quirks mode :hover alone is for links
    return !e.isConnected || over(e) || !!e.labels && [...e.labels].some(over);
  }

  // pressedAt is where the last press was in the document that it reached, and on
  // what.
  const pressedAt = () => last?.at;

  return { arm, disarm, landed, pressed, pressedAt, hovered };
})());
