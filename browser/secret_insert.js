// Runs in the helper's world, on demand: inserts a text that has secrets into the field that
// was clicked. The last check of the field and the insertion are one step, in which no code of
// the page runs, so that the text cannot reach another field or frame: no key events are used.
//
// rules is null if the text may go anywhere. Otherwise origins are the origins that it may go
// to. If the field leads to others, nothing is inserted and the result names them: how is
// 'ask', and each place is what the field does and the origin or URL. how is 'denied' if the
// field is of the wrong kind, for the reason why; 'done' after the insertion; otherwise as
// that of prepare. boxes reports whether the text was divided among several fields, and then
// whole whether they have all of it.
(async (text, clear, rules) => {
  'use strict';
  const { attribute, focusOwner, isSet, hostOf, tell } = rote.inner;
  const isText = e => e.localName === 'textarea' || e.localName === 'input';
  const read = e => isText(e) ? e.value : e.innerText;

  // place is where a URL leads, for a message: its origin, or itself if it has none.
  function place(what, url, base) {
    let to;
    try { to = new URL(url, base); } catch { return { what, origin: String(url).slice(0, 100) }; }
    if (to.protocol === 'javascript:') return null; // it stays on the page
    return { what, origin: /^https?:$/.test(to.protocol) ? to.origin : to.href.slice(0, 100) };
  }

  // places are all places that the text of e reaches.
  function places(e) {
    const doc = e.ownerDocument, w = doc.defaultView, form = e.form;
    const here = w === w.top ? 'is on a page of' : 'is in a frame of';
    // Of a sandboxed document the location has the origin of the URL, and the window the true one.
    const web = /^https?:$/.test(w.location.protocol), sandboxed = web && w.origin !== w.location.origin;
    const own = sandboxed ? { what: here, origin: 'an origin of its own (a sandbox)' } : place(here, w.location.href);
    const found = [own, place('is in a document whose base URL is of', doc.baseURI)];
    if (form && attribute(form, 'action')) found.push(place('is in a form that is sent to', attribute(form, 'action'), doc.baseURI));
    for (const b of form ? e.getRootNode().querySelectorAll('[formaction]') : []) {
      const to = b.form === form && attribute(b, 'formaction');
      if (to) found.push(place('is in a form with a button that sends it to', to, doc.baseURI));
    }
    return found.filter(Boolean);
  }

  // expectsCode reports whether a field is meant for a code of digits.
  const expectsCode = e => e.localName === 'input' && (/\bone-time-code\b/.test(e.autocomplete) || /^(numeric|decimal|tel)$/.test(e.inputMode)
    || /^(number|tel)$/.test(e.type) || /^(\\d|\[0-9\])/.test(attribute(e, 'pattern') ?? ''));

  // refusal is the result if nothing may be inserted into e; null if it may.
  function refusal(e) {
    if (!rules) return null;
    if (e.localName === 'select') return { how: 'denied', why: 'is a list of choices' };
    const password = e.localName === 'input' && e.type === 'password';
    if (!password && rules.field !== 'any' && !rules.username && !(rules.code && expectsCode(e))) {
      return { how: 'denied', why: rules.code ? 'is neither a password field nor a field for a code' : 'is no password field' };
    }
    const asked = places(e).filter(p => !rules.origins.includes(p.origin));
    return asked.length ? { how: 'ask', places: asked } : null;
  }

  // keepHidden makes pictures of the page hide fields.
  function keepHidden(...fields) {
    globalThis.roteReleased ??= new Set();
    for (const e of fields) globalThis.roteReleased.add(e);
  }

  // insert puts a text into e, which has the focus, at the selection. If the page or the browser
  // inserts nothing, it sets the value, which takes the events of an input with it.
  async function insert(e, text, hidden, all) {
    const doc = e.ownerDocument, before = read(e);
    let heard = false;
    const hear = () => { heard = true; };
    e.addEventListener('input', hear, { capture: true, once: true });
    doc.execCommand('insertText', false, text);
    e.removeEventListener('input', hear, { capture: true });
    if (heard || hidden || !isText(e) || !e.isConnected || read(e) !== before) return null;
    const refused = refusal(e); // the page may have changed the form meanwhile
    if (refused) return refused;
    const end = before.length, [from, to] = all ? [0, end] : [e.selectionStart ?? end, e.selectionEnd ?? end];
    e.value = before.slice(0, from) + text + before.slice(to);
    await tell(e);
    return null;
  }

  // boxesFrom are the fields for one character each that begin with e, as many as the text has
  // characters; null if it is not such a row.
  function boxesFrom(e) {
    const n = [...text].length, isBox = b => isText(b) && b.maxLength === 1;
    if (!isBox(e) || n < 2 || n > 10) return null;
    const row = [...e.getRootNode().querySelectorAll('input')].filter(b => isBox(b) && b.form === e.form && !b.disabled && !b.readOnly && b.type !== 'hidden');
    const boxes = row.slice(row.indexOf(e), row.indexOf(e) + n);
    return boxes.length === n ? boxes : null;
  }

  async function fill(boxes) {
    for (const [i, c] of [...text].entries()) {
      const b = boxes[i];
      if (focusOwner() !== b) b.focus();
      if (focusOwner() !== b || !b.isConnected) return { how: 'lost' };
      b.select();
      const refused = refusal(b) ?? await insert(b, c, false, true);
      if (refused) return refused;
      await new Promise(done => setTimeout(done)); // what the page defers until it has the character
    }
    return { how: 'done', boxes: true, whole: boxes.map(b => b.value).join('') === text };
  }

  const field = globalThis.roteTarget;
  if (isSet(field)) {
    field.focus();
    if (focusOwner() !== field) return { how: 'lost' };
    const refused = refusal(field);
    if (refused) return refused;
    keepHidden(field);
    return rote.prepare(text, clear);
  }
  const how = await rote.prepare(text, clear);
  if (how.how !== 'keys') return how;
  const e = globalThis.roteTarget;
  if (focusOwner() !== e || !e.isConnected) return { how: 'lost' };
  if (how.context) return { how: 'denied', why: 'takes text from a keyboard only, with which no secret is typed' };
  const boxes = rules?.code ? boxesFrom(e) : null, refused = refusal(e);
  if (refused) return refused;
  keepHidden(e, ...boxes ?? []);
  if (boxes) return fill(boxes);
  if (isText(e)) {
    if (clear) e.select();
  } else if (how.chord) {
    e.ownerDocument.getSelection().selectAllChildren(hostOf(e));
    if (!clear) e.ownerDocument.getSelection().collapseToEnd();
  }
  return await insert(e, text, how.hidden, clear) ?? { how: 'done' };
})
