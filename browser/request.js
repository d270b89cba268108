// Requests, made with the page's own rights and cookies. This is there twice: in the
// helper's world, whose requests no service worker hears of, and in the page's own.
(() => {
  'use strict';
  const { fetch, Request, FileReader, Blob, Promise, String, document, setTimeout } = globalThis, { keys, fromEntries } = Object;
  const pieceBytes = 1 << 18; // of a body, to hand over at a time
  let reading = null;

  const base64 = blob => new Promise((done, fail) => {
    const r = new FileReader();
    r.onload = () => done(r.result.slice(r.result.indexOf(',') + 1));
    r.onerror = () => fail(r.error);
    r.readAsDataURL(blob);
  });

  // served reports whether the page has a service worker, which may answer.
  function served() {
    try { return !!navigator.serviceWorker?.controller; } catch { return false; } // an opaque origin has none
  }

  // request makes one; with unserved only where no service worker could answer it.
  async function request(f, max, unserved) {
    if (unserved && served()) return { served: true };
    let answer, dropped = [], url = f.url, csp = false;
    const forbidden = e => { csp ||= e.effectiveDirective === 'connect-src'; };
    document.addEventListener('securitypolicyviolation', forbidden);
    try {
      const q = new Request(f.url, { method: f.method, headers: f.headers, body: f.body ?? undefined, credentials: f.credentials });
      url = q.url;
      dropped = keys(f.headers).filter(name => !q.headers.has(name));
      answer = await fetch(q);
    } catch (e) {
      await new Promise(done => setTimeout(done)); // a violation is told of after it
      return { error: String(e.message || e), url, dropped, csp };
    } finally { document.removeEventListener('securitypolicyviolation', forbidden); }
    reading = { from: answer.body?.getReader(), size: 0, max, rest: null, next: null };
    await gather();
    return { status: answer.status, url: answer.url, headers: fromEntries(answer.headers), dropped, ...await part() };
  }

  // gather waits for the next piece of the body that is being read, which part
  // then gives.
  async function gather() {
    if (reading) reading.next = await read();
  }

  async function part() {
    const { blob, ...rest } = reading?.next ?? { broke: 'the page was replaced' };
    return blob ? { ...rest, body: await base64(blob) } : rest;
  }

  // read gives the next piece of the body. What a piece has too much is kept for
  // the next.
  async function read() {
    const pieces = [];
    let held = 0, ended = !reading.from;
    try {
      while (!ended && held < pieceBytes) {
        const { done, value } = reading.rest ? { value: reading.rest } : await reading.from.read();
        if (done) { ended = true; break; }
        if (!reading.rest) reading.size += value.length;
        reading.rest = value.length > pieceBytes - held ? value.subarray(pieceBytes - held) : null;
        pieces.push(reading.rest ? value.subarray(0, pieceBytes - held) : value);
        held += pieces.at(-1).length;
        if (reading.size > reading.max) {
          reading.from.cancel().catch(() => {});
          return { tooLarge: true };
        }
      }
    } catch (e) { return { broke: String(e.message || e) }; }
    return { blob: new Blob(pieces), more: !ended };
  }

  return { request, gather, part };
})()
