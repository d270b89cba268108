// What the document has of its own before a script runs: the code in its
// attributes, where its links and forms lead, what it loads. Runs in the
// helper's world, where the page can't bend it.
(() => {
  const handlers = new Set(), leads = new Set(), forms = new Set(), loads = new Set();
  const max = 20000;
  const note = (set, value) => { if (value && set.size < max) set.add(String(value)); };
  const absolute = (set, value) => { try { note(set, new URL(value, document.baseURI).href); } catch { /* leads nowhere */ } };
  const code = href => { try { if (/^javascript:/i.test(href)) note(handlers, decodeURIComponent(href.slice(11))); } catch { /* is no code */ } };
  const form = value => { try { note(forms, new URL(value, document.baseURI).href.split(/[?#]/)[0]); } catch { /* leads nowhere */ } };
  const visit = root => {
    for (const e of root.querySelectorAll('*')) {
      for (const { name, value } of e.attributes) {
        if (name.startsWith('on')) note(handlers, value);
        else if (name === 'href' || name === 'xlink:href') {
          absolute(leads, value);
          code(e.href);
        }
        else if (name === 'action' || name === 'formaction') form(value);
        else if (name === 'src' || name === 'data' || name === 'poster' || name.startsWith('data-')) absolute(loads, value);
        else if (name === 'srcset') for (const part of value.split(',')) absolute(loads, part.trim().split(/\s/)[0]);
        else if (name === 'style') for (const [, url] of value.matchAll(/url\(\s*["']?([^"')]+)/g)) absolute(loads, url);
      }
      if (e.localName === 'meta' && /^refresh$/i.test(e.httpEquiv)) absolute(leads, e.content.replace(/^[^;,]*[;,]?\s*(url\s*=\s*)?["']?|["'].*$/gi, ''));
      if (e.localName === 'form' && !e.hasAttribute('action')) form(document.URL);
      if (e.localName === 'style') for (const [, url] of e.textContent.matchAll(/url\(\s*["']?([^"')]+)/g)) absolute(loads, url);
      if (e.shadowRoot) visit(e.shadowRoot);
    }
  };
  visit(document);
  for (const { name } of performance.getEntriesByType('resource')) note(loads, name);
  return { handlers: [...handlers], leads: [...leads], forms: [...forms], loads: [...loads] };
})()
