// Finds where text can be typed. A field is found like any element. Other elements, and
// hidden fields, may lead to one: an editor receives its text through a hidden element
// that gets the focus when a person clicks the editor.
Object.assign(rote.inner, (() => {
  'use strict';
  const { documentIn, hit, serves, within, target, unable } = rote.inner;
  const focusTime = 500; // ms that a page may take to put the focus somewhere after a click

  // untypable is why the text cannot be typed into e; without text, why no text can.
  function untypable(e, text) {
    if (e.isContentEditable || e.localName === 'textarea' || e.editContext) return null;
    if (e.localName === 'select') return text === undefined || option(e, text) ? null : `has no option ${JSON.stringify(text)} ${offer(e)}`;
    if (e.localName !== 'input') return 'is no field for text (' + e.localName + ')';
    if (e.type === 'file') return 'is an input of type file, which takes no text: hand files in with x-files';
    if (/^(checkbox|radio|button|submit|reset|image)$/.test(e.type)) return `is an input of type ${e.type}, which takes no text`;
    return null;
  }

  // choices are the options that a person can choose.
  const choices = e => [...e.options].filter(o => !o.disabled && !o.parentElement.disabled);

  // option is the option that the text names: by its label, its value, or else its text.
  function option(e, text) {
    const all = choices(e);
    return all.find(o => o.label.trim() === text) || all.find(o => o.value === text) || all.find(o => o.text.trim() === text.trim());
  }

  // offer lists the options of a list, for a message.
  function offer(e) {
    const labels = choices(e).map(o => JSON.stringify(o.label.trim()));
    if (!labels.length) return '(there is nothing to choose yet)';
    return '(it has ' + labels.slice(0, 20).join(', ') + (labels.length > 20 ? `, and ${labels.length - 20} more)` : ')');
  }

  // seen holds, for each list that does not have the wanted option, its choices and the time
  // since which it has had them.
  const seen = new WeakMap();

  // offered describes a list that does not have the wanted option: the labels of its choices,
  // and for how many ms they have not changed. The time is 0 for a list that may still be
  // filled: while the document is loading, and when the list has fewer than two choices.
  function offered(e) {
    const all = choices(e), labels = all.slice(0, 50).map(o => o.label.trim().slice(0, 100));
    if (document.readyState !== 'complete' || all.length < 2) {
      seen.delete(e);
      return { labels, unchanged: 0 };
    }
    const now = performance.now(), state = JSON.stringify(all.map(o => [o.label, o.value]));
    if (seen.get(e)?.state !== state) seen.set(e, { state, since: now });
    return { labels, unchanged: now - seen.get(e).since };
  }

  const isField = e => untypable(e) === null && e.localName !== 'select';
  const takesText = e => !!e && isField(e) && (e.isContentEditable || !e.readOnly && !e.matches(':disabled'));
  const isMultiline = e => e.isContentEditable || e.localName === 'textarea';

  // opensField matches custom controls that are or open an input, such as a list that is
  // searched by typing.
  const opensField = '[role=combobox],[role=textbox],[role=searchbox],[aria-haspopup],[aria-autocomplete]';

  // neverTakes reports whether a click on e never leads to a field.
  const neverTakes = e => /^(html|body|option|optgroup|summary|img|video|audio|progress|meter)$/.test(e.localName)
    || e.localName === 'input' || (e.localName === 'button' || e.localName === 'a' && e.href) && !e.matches(opensField);

  // inside lists e and its descendants, including those in shadow roots and frames.
  function* inside(e, frames) {
    yield { e, frames };
    const inner = documentIn(e);
    for (const root of [e.shadowRoot, inner && inner.documentElement, ...e.children]) {
      if (root) yield* root.nodeType === 1 ? inside(root, root === inner?.documentElement ? [...frames, e] : frames) : insideRoot(root, frames);
    }
  }

  function* insideRoot(root, frames) { for (const e of root.children) yield* inside(e, frames); }

  // isOpen reports whether the field is visible and no other part of e covers it.
  function isOpen({ e: field, frames }, e) {
    if (target(field, true).why || frames.some(f => target(f, true).why)) return false;
    const a = field.getBoundingClientRect(), b = e.getBoundingClientRect();
    const apart = field.ownerDocument === e.ownerDocument && (a.right <= b.left || a.left >= b.right || a.bottom <= b.top || a.top >= b.bottom);
    if (apart) return false;
    const x = (a.left + a.right) / 2, y = (a.top + a.bottom) / 2, n = hit(field.ownerDocument, x, y);
    return !n || serves(n, field) || !within(n, e);
  }

  // isShown reports whether the middle of e is visible.
  function isShown(e) {
    const r = e.getBoundingClientRect(), n = hit(e.ownerDocument, (r.left + r.right) / 2, (r.top + r.bottom) / 2);
    return !target(e, true).why && !!n && serves(n, e);
  }

  // tried holds the state of e when a click on it did not lead to a field.
  const tried = new WeakMap();
  const looks = e => `${e.readOnly} ${e.childElementCount} ${[...inside(e, [])].filter(f => isField(f.e)).length}`;

  // unsure is the result for an e of which only a click shows whether it leads to a field.
  const unsure = (e, why) => tried.get(e) === looks(e) ? { why } : { e, why: null, unsure: why };

  // taker is what to click to type into e: { e, why } like the result of target, with field
  // if another element receives the text, and final if e never will.
  function taker(e, frames, text) {
    if (untypable(e) === null) {
      const t = target(e, true), why = t.why || unable(e, true);
      if (why) return why === 'is read-only' ? unsure(e, why) : { why };
      const missing = untypable(e, text);
      return missing ? { why: missing, list: offered(e) } : t;
    }
    const never = untypable(e), held = e.localName === 'input' ? [] : [...inside(e, frames)];
    const fields = held.filter(f => f.e !== e && isField(f.e) && !(f.e.isContentEditable && f.e.parentElement?.isContentEditable));
    if (neverTakes(e) && (!fields.length || /^(html|body)$/.test(e.localName) && fields.length > 1)) return { why: never, final: true };
    const t = target(e, true), why = t.why || unable(e, false);
    if (why) return { why };
    const open = fields.filter(f => isOpen(f, e)), texts = open.filter(f => isMultiline(f.e));
    const only = open.length === 1 ? open[0] : texts.length === 1 ? texts[0] : null;
    if (only) return { ...taker(only.e, only.frames, text), field: only.e, frames: only.frames };
    if (open.length) return { why: `holds ${open.length} fields for text: name the one to type into` };
    const component = e.shadowRoot && e.matches(':defined');
    if (component && !fields.length && !held.some(f => f.e.matches(opensField))) return { why: `${never} and holds none`, final: true };
    return unsure(e, `${never}, and clicking it puts the focus into nothing that takes text`);
  }

  // surface is the visible element to click for a field that is hidden in an editor: it
  // contains the field and no other control. It must not be the field itself, because a
  // honeypot field is hit in the same way.
  function surface(e) {
    if (!takesText(e) || e.localName === 'select') return null;
    const controls = 'button,a[href],input,select,textarea,label,[contenteditable]';
    for (let n = e.parentElement, i = 0; n && i < 4 && !/^(form|fieldset|label|body|html|main|section)$/.test(n.localName); n = n.parentElement, i++) {
      if ([...n.querySelectorAll(controls)].some(c => c !== e && isShown(c))) return null;
      const r = n.getBoundingClientRect();
      if (r.width < 16 || r.height < 8 || n.textContent.trim() === '' || target(n, true).why) continue;
      return tried.get(n) === looks(n) ? null : n;
    }
    return null;
  }

  // aside is how to type into a match that cannot be clicked itself: by a click on the
  // surface of the editor that hides it.
  async function aside({ e, frames }, r, judge) {
    if (r.final || untypable(e) !== null) return null;
    const over = surface(e);
    if (!over) return null;
    const s = await judge({ e: over, frames });
    return s.why || within(s.on, e) ? null : { ...s, e, over, unsure: r.why };
  }

  // focusOwner is the element that has the focus, through open shadow roots and frames
  // of this origin.
  function focusOwner() {
    let e = document.activeElement;
    for (let inner; e && (inner = e.shadowRoot?.activeElement ?? documentIn(e)?.activeElement);) e = inner;
    return e;
  }

  // hostOf is the element with contenteditable that e is in.
  function hostOf(e) {
    while (e.parentElement?.isContentEditable) e = e.parentElement;
    return e;
  }

  // attempt is the click that should move the focus to a field.
  let attempt = null;
  const entered = () => attempt;

  // isSet reports whether the helper sets the value of e, because no text can be typed
  // there.
  const isSet = e => e.localName === 'select' || e.localName === 'input' && /^(date|time|datetime-local|month|week|color|range)$/.test(e.type);

  // enter records what is about to be clicked for typing. Another field loses the focus, as
  // it does when a person clicks elsewhere.
  function enter(field, over, unsure) {
    const held = focusOwner();
    if (unsure && takesText(held) && !within(held, over) && !within(over, held)) held.blur();
    attempt = { field, over, unsure, held: focusOwner(), value: field.value, start: field.selectionStart };
  }

  // focused waits until the click of attempt has moved the focus to an element that receives
  // text, and returns that element; null if it has not.
  async function focused() {
    const { field, over, unsure, held } = attempt;
    const asked = field === over || !takesText(field) ? null : field; // the only element that is accepted
    for (const end = performance.now() + focusTime; ; await new Promise(done => setTimeout(done, 20))) {
      const e = focusOwner();
      const wanted = asked ? e === asked : e !== held || within(e, over) || e === field;
      if (takesText(e) && wanted) return e;
      if (performance.now() >= end) break;
    }
    tried.set(over, looks(over));
    return null;
  }

  return { inside, isSet, isShown, untypable, option, taker, aside, enter, entered, focused, focusOwner, hostOf, takesText };
})());
