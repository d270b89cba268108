// Observes where a press of the mouse lands: between the actionability check of an element
// and the press, the page may move or cover it. Only a press that reaches the element is
// delivered to the page.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { describe, serves, hit } = rote.inner;
  const events = ['pointermove', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  let armed = null, last = null;

  // arm observes the next press in all windows that the helper can access. over is where it
  // should land: e, or its label. frames are those that contain over; when one moves, over
  // moves with it. moving reports that over never comes to rest: then it is enough that the
  // press reaches it.
  function arm(e, over, windows, frames, moving) {
    disarm();
    const places = () => [over, ...frames].map(n => n.getBoundingClientRect());
    const press = { e, over, moving, places, before: places(), landed: null, leaving: false };
    press.judged = new Promise(done => { press.tell = done; });
    const leave = event => { if (!event.destination.sameDocument && event.downloadRequest === null) press.leaving = true; };
    const around = windows.filter(w => holds(w, e.ownerDocument.defaultView));
    const leaves = change => { for (const w of around) w.navigation?.[change]('navigate', leave); };
    leaves('addEventListener');
    press.off = () => leaves('removeEventListener');
    // These stay, because removing them and adding them again takes longer than all the events.
    for (const w of windows) for (const name of events) w.addEventListener(name, judge, { capture: true, passive: false });
    armed = last = press;
  }

  // judge decides where the press lands that is expected, if one is.
  function judge(event) {
    const press = armed;
    if (!press || !event.isTrusted) return;
    if (event.type === 'pointermove') {
      press.near = press.places();
      return;
    }
    if (press.landed === null) {
      if (event.type !== 'pointerdown' && event.type !== 'mousedown') return;
      const n = event.composedPath()[0], { over, before } = press;
      press.at = { x: event.clientX, y: event.clientY, on: n };
      if (press.leaving) press.landed = 'another page'; // a person would see that the page navigates, and press nothing
      else if (n.nodeType !== 1) press.landed = 'the page';
      else if (!serves(n, over) && !serves(n, press.e)) press.landed = describe(n);
      else press.landed = !press.moving && moved(before, press.near ?? before, press.places(), over) ? 'it on the move' : '';
      press.tell(press.landed);
    }
    if (press.landed === '') return disarm();
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // moved reports whether an element has moved since it was checked, given its boxes and
  // those of its frames. What the press itself causes does not count: a button may shrink a
  // little while it is held down.
  function moved(before, near, now, over) {
    const [from, to] = [near[0], now[0]], slack = Math.max(8, to.width / 4, to.height / 4);
    const pressed = over.matches(':active') && Math.abs(from.left - to.left) < slack && Math.abs(from.top - to.top) < slack;
    return before.some((r, i) => apart(r, near[i])) || near.some((r, i) => apart(r, now[i]) && !(pressed && i === 0));
  }

  // holds reports whether the window is v or an ancestor of it.
  const holds = (w, v) => {
    while (v !== w && v !== v.parent) v = v.parent;
    return v === w;
  };

  const apart = (a, b) => Math.abs(a.left - b.left) > 1 || Math.abs(a.top - b.top) > 1;

  function disarm() {
    armed?.off();
    armed = null;
  }

  // landed describes what the last press hit: '' for its element at rest, the description of
  // another element, or null if the helper cannot access it. x and y are where it was. armed
  // is false in a document that expects no press, because it is newer than the press.
  function landed(x, y) {
    if (!last) return { armed: false };
    if (last.landed !== null) return { armed: true, hit: last.landed };
    if (window !== top) return { armed: true, hit: null };
    // Not seen, because another process got the press or the page has stopped the event.
    const n = hit(document, x, y);
    return { armed: true, hit: n && /^(iframe|frame|object|embed)$/.test(n.localName) && !n.contentDocument ? describe(n) : '' };
  }

  // pressed is a promise of the result of landed, fulfilled when the press has come.
  const pressed = () => last.judged;

  // hovered reports whether the mouse is over the element that was found last, or was until
  // the page removed it.
  function hovered() {
    const e = globalThis.roteTarget;
    if (!e) return false; // the page has navigated because of the mouse
    const over = n => n.matches(CSS.escape(n.localName) + ':hover'); // in quirks mode :hover alone matches links only
    return !e.isConnected || over(e) || !!e.labels && [...e.labels].some(over);
  }

  // pressedAt is the position of the last press in the document that it reached, and the
  // element there.
  const pressedAt = () => last?.at;

  return { arm, disarm, landed, pressed, pressedAt, hovered };
})());
