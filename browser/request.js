// Sends requests with the rights and cookies of the page. It is installed twice: in the
// helper's world, whose requests bypass the service worker, and in the page's own.
(() => {
  'use strict';
  const { fetch, Request, FileReader, Blob, Promise, String, document, setTimeout } = globalThis, { keys, fromEntries } = Object;
  const pieceBytes = 1 << 18; // maximum length of one part of a body
  let reading = null;

  const base64 = blob => new Promise((done, fail) => {
    const r = new FileReader();
    r.onload = () => done(r.result.slice(r.result.indexOf(',') + 1));
    r.onerror = () => fail(r.error);
    r.readAsDataURL(blob);
  });

  // served reports whether the page has a service worker that may answer requests.
  function served() {
    try { return !!navigator.serviceWorker?.controller; } catch { return false; } // an opaque origin has none
  }

  // request sends a request and returns the response with the first part of its body. If
  // unserved is set and a service worker could answer, it only returns { served: true }. If
  // the document is not of f.origin, it returns { moved: true }.
  async function request(f, max, unserved) {
    if (f.origin && self.origin !== f.origin) return { moved: true };
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
      await new Promise(done => setTimeout(done)); // the event of a violation comes later
      return { error: String(e.message || e), url, dropped, csp };
    } finally { document.removeEventListener('securitypolicyviolation', forbidden); }
    reading = { from: answer.body?.getReader(), size: 0, max, rest: null, next: null };
    await gather();
    return { status: answer.status, url: answer.url, headers: fromEntries(answer.headers), dropped, ...await part() };
  }

  // gather waits for the next part of the current body. part then returns it.
  async function gather() {
    if (reading) reading.next = await read();
  }

  async function part() {
    const { blob, ...rest } = reading?.next ?? { broke: 'the page was replaced' };
    return blob ? { ...rest, body: await base64(blob) } : rest;
  }

  // read reads the next part of the body. Bytes beyond pieceBytes are kept for the part
  // after it.
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
