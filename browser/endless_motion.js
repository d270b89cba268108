// Finds where an element that never comes to rest can be clicked: at a point that it stays
// over, or returns to.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { line, point } = rote.inner;
  const patience = 1500; // ms after which an element that scripts move counts as moving forever
  const memory = 4000; // ms of boxes that are kept
  const unwatched = 1500; // ms after the last question when recording ends
  const stay = { time: 300, frames: 10 }, visit = { time: 150, frames: 6 };
  const records = new WeakMap();

  // record records the box of e at each animation frame, as long as the helper waits for e.
  function record(e) {
    const now = performance.now();
    let r = records.get(e);
    if (!r || r.ended) {
      r = { since: now, asked: now, boxes: [], ended: false };
      records.set(e, r);
      const next = t => {
        r.ended = t - r.asked > unwatched || !e.isConnected;
        if (r.ended) return;
        r.boxes.push({ t, box: e.getBoundingClientRect() });
        while (r.boxes[0].t < t - memory) r.boxes.shift();
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    }
    r.asked = now;
    return r;
  }

  // animations are the running animations of e and of the elements that carry it.
  const animations = e => {
    const carriers = line(e);
    return [...new Set(carriers.map(n => n.getRootNode()))].flatMap(root => root.getAnimations())
      .filter(a => a.playState === 'running' && carriers.includes(a.effect?.target));
  };
  const endOf = a => a.effect.getComputedTiming().endTime;

  // passing is a point where e, which moves, can be clicked now, or null.
  function passing(e, frames) {
    const r = record(e), running = animations(e);
    if (running.some(a => endOf(a) !== Infinity)) return null;
    if (!running.length && performance.now() - r.since < patience) return null;
    const p = best(e, r.boxes) && point(e, frames, best(e, r.boxes));
    return p && !p.why ? p : null;
  }

  const parts = Array.from({ length: 7 }, (_, i) => (i + .5) / 7);

  // best is the point of e's box that is safest to click: one that the box has been
  // over for long enough and will probably stay over for longest, or else one that it
  // has just come back to and stays over for a while each time.
  function best(e, boxes) {
    const now = e.getBoundingClientRect();
    let safest = null, back = null;
    for (const fx of parts) {
      for (const fy of parts) {
        const x = now.left + now.width * fx, y = now.top + now.height * fy, visits = visitsOf(boxes, x, y), last = visits.at(-1);
        if (!last || last.end !== boxes.at(-1).t) continue;
        const margin = Math.min(last.end - last.start, remaining(boxes, x, y));
        if (lasts(last, stay) && (!safest || margin > safest.margin)) safest = { x, y, margin };
        const whole = visits.slice(0, -1).filter(v => v.start !== boxes[0].t);
        if (whole.length && whole.every(v => lasts(v, visit) && last.end - last.start < (v.end - v.start) / 2)) back ??= { x, y };
      }
    }
    return safest ?? back;
  }

  // remaining is for how many ms the box will stay over a point if its edges keep
  // moving as they did for the last 100 ms.
  function remaining(boxes, x, y) {
    const { t, box } = boxes.at(-1), before = boxes.findLast(b => b.t <= t - 100) ?? boxes[0];
    const until = (distance, edge, sign) => {
      const closer = sign * (box[edge] - before.box[edge]) / (t - before.t || 1); // px per ms
      return closer > 0 ? distance / closer : Infinity;
    };
    return Math.min(until(x - box.left, 'left', 1), until(box.right - x, 'right', -1), until(y - box.top, 'top', 1), until(box.bottom - y, 'bottom', -1));
  }

  const lasts = (v, least) => v.end - v.start >= least.time && v.frames >= least.frames;

  // visitsOf are the periods in which the box was over a point.
  function visitsOf(boxes, x, y) {
    const visits = [];
    let open = null;
    for (const { t, box } of boxes) {
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) open = null;
      else if (open) [open.end, open.frames] = [t, open.frames + 1];
      else visits.push(open = { start: t, end: t, frames: 1 });
    }
    return visits;
  }

  return { passing };
})());
