// Requests, made with the page's own rights and cookies.
Object.assign(globalThis.rote, (() => {
  'use strict';

  const base64 = blob => new Promise((done, fail) => {
    const r = new FileReader();
    r.onload = () => done(r.result.slice(r.result.indexOf(',') + 1));
    r.onerror = () => fail(r.error);
    r.readAsDataURL(blob);
  });

  async function request(f, max) {
    let answer;
    try {
      answer = await fetch(f.url, { method: f.method, headers: f.headers, body: f.body ?? undefined, credentials: f.credentials });
    } catch (e) {
      let url = f.url;
      try { url = new URL(url, document.baseURI).href; } catch { /* the error says it */ }
      return { error: String(e.message || e), url };
    }
    const parts = [];
    let size = 0;
    try {
      for (const reader = answer.body?.getReader(); reader;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > max) { reader.cancel(); return { tooLarge: true }; }
        parts.push(value);
      }
    } catch (e) { return { error: 'the answer broke off: ' + String(e.message || e) }; }
    return { status: answer.status, url: answer.url, headers: Object.fromEntries(answer.headers), body: await base64(new Blob(parts)) };
  }

  return { request };
})());
