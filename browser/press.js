// The press of the mouse, watched: between the judgement of an element and the
// press, the page may move it or cover it. Only a press that reaches the element
// gets through to the page.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { describe, serves, hit } = rote.inner;
  const events = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  let armed = null, last = null;

  // arm watches for the next press in all windows that we reach. over is where it
  // is to land: e, or the label that stands for it. frames are those that over is
  // in; when one moves, over moves with it.
  function arm(e, over, windows, frames) {
    disarm();
    const places = () => [over, ...frames].map(n => n.getBoundingClientRect());
    const press = { landed: null }, before = places();
    press.judged = new Promise(done => { press.tell = done; });
    const judge = event => {
      if (!event.isTrusted) return;
      if (press.landed === null) {
        if (event.type !== 'pointerdown' && event.type !== 'mousedown') return;
        const n = event.composedPath()[0];
        if (n.nodeType !== 1) press.landed = 'the page';
        else if (!serves(n, over) && !serves(n, e)) press.landed = describe(n);
        else press.landed = places().some((now, i) => apart(before[i], now)) ? 'it on the move' : '';
        press.tell(press.landed);
      }
      if (press.landed === '') return disarm();
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const each = change => { for (const w of windows) for (const name of events) w[change](name, judge, { capture: true, passive: false }); };
    each('addEventListener');
    press.off = () => each('removeEventListener');
    armed = last = press;
  }

  const apart = (a, b) => Math.abs(a.left - b.left) > 1 || Math.abs(a.top - b.top) > 1;

  function disarm() {
    armed?.off();
    armed = null;
  }

  // landed says what the last press hit: '' for its element at rest, another's
  // name, or null for something that we do not reach. x and y are where it was.
  function landed(x, y) {
    if (last.landed !== null) return last.landed;
    if (window !== top) return null;
    // Unseen because another process has it, or because the page hid it from us.
    const n = hit(document, x, y);
    return n && /^(iframe|frame|object|embed)$/.test(n.localName) && !n.contentDocument ? describe(n) : '';
  }

  // pressed is landed once the press has come.
  const pressed = () => last.judged;

  // hovered reports whether the mouse is over the element that was found last, or
  // was until the page took it away.
  function hovered() {
    const e = globalThis.roteTarget;
    if (!e) return false; // the mouse has led to another document
    return !e.isConnected || e.matches(':hover') || !!e.labels && [...e.labels].some(l => l.matches(':hover'));
  }

  return { arm, disarm, landed, pressed, hovered };
})());
