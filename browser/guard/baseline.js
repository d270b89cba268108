// What the document contains before a script runs: the code in its attributes, where
// its links and forms lead, what it loads. It runs in the helper's world, where the
// page cannot interfere. Every watched script waits for it, so it must take no longer
// than such a script needs to read the document.
(() => {
  const handlers = new Set(), leads = new Set(), forms = new Set(), loads = new Set();
  const max = 20000;
  const note = (set, value) => { if (value && set.size < max) set.add(String(value)); };
  const absolute = (set, value) => { try { note(set, new URL(value, document.baseURI).href); } catch { /* not a URL */ } };
  const code = href => { try { if (/^javascript:/i.test(href)) note(handlers, decodeURIComponent(href.slice(11))); } catch { /* not code */ } };
  const form = value => { try { note(forms, new URL(value, document.baseURI).href.split(/[?#]/)[0]); } catch { /* not a URL */ } };
  const styles = text => { if (text.includes('url(')) for (const [, url] of text.matchAll(/url\(\s*["']?([^"')]+)/g)) absolute(loads, url); };
  const link = (value, e) => { absolute(leads, value); code(e.href); };
  const load = value => absolute(loads, value);
  const attributes = {
    __proto__: null,
    'href': link, 'xlink:href': link, 'action': form, 'formaction': form, 'src': load, 'data': load, 'poster': load, 'style': styles,
    'srcset': value => { for (const part of value.split(',')) absolute(loads, part.trim().split(/\s/)[0]); },
  };
  // Pages keep URLs that they load later in data attributes. Numbers are not URLs.
  const data = value => { if (/[^\d\s]/.test(value)) load(value); };
  // reader is the function that reads attributes of this name; null if none does.
  const readers = new Map();
  const reader = name => {
    const found = attributes[name] ?? (name.startsWith('on') ? value => note(handlers, value) : name.startsWith('data-') ? data : null);
    readers.set(name, found);
    return found;
  };
  const elements = {
    __proto__: null,
    meta: e => { if (/^refresh$/i.test(e.httpEquiv)) absolute(leads, e.content.replace(/^[^;,]*[;,]?\s*(url\s*=\s*)?["']?|["'].*$/gi, '')); },
    form: e => { if (!e.hasAttribute('action')) form(document.URL); },
    style: e => styles(e.textContent),
  };
  const visit = root => {
    for (const e of root.querySelectorAll('*')) {
      for (const name of e.getAttributeNames()) {
        let read = readers.get(name);
        if (read === undefined) read = reader(name);
        if (read) read(e.getAttribute(name), e);
      }
      if (e.shadowRoot) visit(e.shadowRoot);
    }
    for (const e of root.querySelectorAll('meta, form, style')) elements[e.localName]?.(e);
  };
  visit(document);
  for (const { name } of performance.getEntriesByType('resource')) note(loads, name);
  return { handlers: [...handlers], leads: [...leads], forms: [...forms], loads: [...loads] };
})()
