// Prepares typing (places the caret, or sets the value where no text can be typed), and
// checks the result.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { tell, within, isShown, option, isSet, entered, focused, focusOwner, hostOf } = rote.inner;
  const maskTime = 40; // ms that a mask may take to place the caret after a click

  const isText = e => e.localName === 'textarea' || e.localName === 'input';
  const read = e => isText(e) ? e.value : e.isContentEditable ? e.innerText : '';
  const pause = ms => new Promise(done => setTimeout(done, ms));

  // job is the typing under way: the element, and the text before and after the caret.
  let job = null;

  // prepare moves the caret to where typing begins, after the click has given the focus. It
  // returns how the text gets in: 'keys', or 'done' if the value is set already; or why it
  // cannot: 'gone', 'lost', 'none', 'changed'.
  async function prepare(text, clear) {
    const field = globalThis.roteTarget, { unsure } = entered();
    if (isSet(field)) return put(field, text, clear);
    await pause(0); // after what the page's handlers have deferred
    const e = unsure ? await focused() : given(field);
    if (!field.isConnected) return { how: 'gone' };
    if (!e) return { how: unsure ? 'none' : 'lost' };
    globalThis.roteTarget = e;
    const hidden = !!e.editContext || unsure && !e.isContentEditable && !isShown(e);
    job = { e, text, hidden, unsure, before: read(e), clear };
    if (isText(e) && !hidden) await place(job);
    const host = !isText(e) && (!within(field, e) || field === e || hostOf(field) === field);
    if (!isText(e) && !host) mark(field, job);
    const { before, from, to } = job;
    job.prefix = isText(e) ? before.slice(0, from) : clear ? '' : before;
    job.suffix = isText(e) ? before.slice(to) : '';
    return { how: 'keys', hidden, editable: e.isContentEditable, chord: hidden || host, mac: /Mac/.test(navigator.platform),
      multiline: e.localName !== 'input', context: !!e.editContext, empty: !hidden && !before.trim() };
  }

  // given is the element that has the focus for field: itself, or the element with
  // contenteditable that contains it. If the click has not given the focus, focus() does, like
  // the Tab key.
  function given(field) {
    const wanted = field.isContentEditable ? hostOf(field) : field;
    if (focusOwner() !== wanted) wanted.focus();
    return focusOwner() === wanted ? wanted : null;
  }

  // selection is the selection of a field; null if scripts cannot read it.
  const selection = e => typeof e.selectionStart === 'number' ? { start: e.selectionStart, end: e.selectionEnd } : null;

  // place moves the caret of a field to its end, or selects all. A caret or selection that the
  // page has set since the click is kept: a mask knows where its next character belongs.
  async function place(job) {
    const { e, clear } = job;
    if (e.value) await pause(maskTime);
    job.before = e.value;
    const all = e.value.length, now = selection(e);
    [job.from, job.to] = clear ? [0, all] : [all, all];
    if (clear) return e.select();
    const selected = e.ownerDocument.getSelection().toString();
    if (!now) {
      if (selected && selected === e.value) job.from = 0;
      else e.ownerDocument.getSelection().modify('move', 'forward', 'documentboundary');
    } else if (now.start !== now.end || placed(e, now.start)) {
      [job.from, job.to] = [now.start, now.end];
    } else {
      e.setSelectionRange(all, all);
    }
  }

  // placed reports whether the page, and not the click, has moved the caret to i.
  function placed(e, i) {
    const { at, start, value } = { ...entered(), at: rote.pressedAt() };
    if (!e.value) return false;
    if (!at || !within(at.on, e)) return value === e.value && i !== start; // focus by a label or a script restores the caret
    const root = e.getRootNode(), c = e.ownerDocument.caretPositionFromPoint(at.x, at.y, root.host ? { shadowRoots: [root] } : {});
    return !!c && c.offsetNode === e && c.offset !== i;
  }

  // mark selects the contents of an element in an editor, or moves the caret to its end.
  function mark(field, job) {
    const s = field.ownerDocument.getSelection();
    s.selectAllChildren(field);
    if (!job.clear) s.collapseToEnd();
    job.e = field;
    job.before = field.innerText;
  }

  async function put(e, text, clear) {
    e.focus();
    if (focusOwner() !== e) return { how: 'lost' };
    if (e.localName === 'select') return choose(e, text, clear);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, text);
    await tell(e);
    job = { e, text, before: '', prefix: '', suffix: '' };
    return { how: 'done' };
  }

  async function choose(e, text, clear) {
    const o = option(e, text);
    if (!o) return { how: 'changed' };
    const others = clear && e.multiple ? [...e.selectedOptions].filter(other => other !== o) : [];
    job = null;
    if (!o.selected || others.length) {
      for (const other of others) other.selected = false;
      o.selected = true;
      await tell(e);
    }
    return { how: 'done' };
  }

  // paste dispatches a paste event with the text to the focused element, and reports whether
  // the page has handled it, as editors do; then it must not be typed.
  function paste(text) {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    const e = focusOwner(), { focusNode } = e.ownerDocument.getSelection(), at = focusNode?.nodeType === 1 ? focusNode : focusNode?.parentElement;
    const on = at && e.isContentEditable && within(at, e) ? at : e;
    return !on.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
  }

  // plain normalizes what editing adds: other line ends and, in an element with
  // contenteditable, the paragraphs that lines become and the line break that keeps an empty
  // one open.
  function plain(e, s) {
    s = s.replace(/\r\n?/g, '\n').replace(/\u00a0/g, ' ');
    if (!isText(e)) s = s.replace(/[\u200b\ufeff]/g, '').replace(/[ \n]*\n/g, '\n').replace(/^\n/, '');
    return s.replace(/\n+$/, '');
  }

  // holdsInOrder reports whether s contains all characters of part in their order.
  function holdsInOrder(s, part) {
    let i = 0;
    for (const c of s) if (c === part[i]) i++;
    return i >= part.length;
  }

  // typed is the result of typing: '' if the text is there as typed, 'nothing' if none of it
  // arrived, 'added' if there is more, 'changed' if there is other text, 'gone' if the field
  // was removed.
  function typed() {
    if (!job || job.hidden || job.unsure && focusOwner() !== job.e) { // the text cannot be seen, or is in several fields
      return { as: '', value: '', secret: false };
    }
    const { e, text, before } = job, value = read(e), got = plain(e, value), want = plain(e, job.prefix + text + job.suffix);
    const result = as => ({ as, value: as && value.slice(0, 1000), secret: e.type === 'password', before, excess: got.startsWith(want) });
    if (got === want || !isText(e) && (got === plain(e, text) || rolled(got, want) || split(e, text))) return result('');
    if (!e.isConnected) return { as: 'gone', value: job.prefix + text + job.suffix, secret: false };
    if (text && got === plain(e, before)) return result('nothing');
    const whole = e.localName === 'input' ? text : want; // a mask also shows its empty places
    return result(text && holdsInOrder([...got], [...whole]) ? 'added' : 'changed');
  }

  // rolled reports whether an editor that renders only its visible part shows the end of the
  // text.
  const rolled = (got, want) => got.length < want.length * 0.9 && got.length > 400 && want.endsWith(got.slice(-200));

  // split reports whether an editor has put the text into more elements than the one that was
  // named.
  const split = (e, text) => e.isContentEditable && hostOf(e) !== e && plain(e, hostOf(e).innerText).includes(plain(e, text));

  // reselect selects what was typed into a field and what the page has added to it.
  function reselect() {
    const { e, prefix, suffix } = job;
    e.setSelectionRange(prefix.length, e.value.length - suffix.length);
  }

  return { prepare, paste, typed, reselect };
})());
