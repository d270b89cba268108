// Typing: the caret where the text is to go, the value set where no text is typed,
// and what has become of the text.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { tell, within, isShown, option, isSet, entered, focused, focusOwner, hostOf } = rote.inner;
  const maskTime = 40; // ms that a mask may take to place the caret after a click

  const isText = e => e.localName === 'textarea' || e.localName === 'input';
  const read = e => isText(e) ? e.value : e.isContentEditable ? e.innerText : '';
  const pause = ms => new Promise(done => setTimeout(done, ms));

  // job is the typing under way: where the text goes, and what is there around it.
  let job = null;

  // prepare puts the caret where typing is to begin, once the click has given the
  // focus. It says how the text gets in: 'keys', or 'done' when it is in already;
  // or why it cannot: 'gone', 'lost', 'none', 'changed'.
  async function prepare(text, clear) {
    const field = globalThis.roteTarget, { unsure } = entered();
    if (isSet(field)) return put(field, text, clear);
    await pause(0); // what the page's handlers have put off comes first
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
  // contenteditable that it is in. Where no click gives the focus, the Tab key would.
  function given(field) {
    const wanted = field.isContentEditable ? hostOf(field) : field;
    if (focusOwner() !== wanted) wanted.focus();
    return focusOwner() === wanted ? wanted : null;
  }

  // selection is what is selected in a field; null where scripts cannot know.
  const selection = e => typeof e.selectionStart === 'number' ? { start: e.selectionStart, end: e.selectionEnd } : null;

  // place puts the caret of a field at the end, or selects all. A caret or selection
  // that the page has put somewhere since the click stays: a mask knows where its
  // next character belongs.
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

  // placed reports whether the page, not the click, has put the caret at i.
  function placed(e, i) {
    const { at, start, value } = { ...entered(), at: rote.pressedAt() };
    if (!e.value) return false;
    if (!at || !within(at.on, e)) return value === e.value && i !== start; // focus by a label or a script restores the caret
    const root = e.getRootNode(), c = e.ownerDocument.caretPositionFromPoint(at.x, at.y, root.host ? { shadowRoots: [root] } : {});
    return !!c && c.offsetNode === e && c.offset !== i;
  }

  // mark selects what an element inside of an editor holds, or puts the caret at its
  // end.
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

  // paste hands the text to what has the focus as a paste does, and tells whether
  // the page has taken it: an editor does, so that it is not typed there.
  function paste(text) {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    const e = focusOwner(), { focusNode } = e.ownerDocument.getSelection(), at = focusNode?.nodeType === 1 ? focusNode : focusNode?.parentElement;
    const on = at && e.isContentEditable && within(at, e) ? at : e;
    return !on.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
  }

  // plain levels what editing adds: line ends of other kinds and, in an editable
  // element, the paragraphs that lines become and the break that keeps an empty
  // one open.
  function plain(e, s) {
    s = s.replace(/\r\n?/g, '\n').replace(/\u00a0/g, ' ');
    if (!isText(e)) s = s.replace(/[\u200b\ufeff]/g, '').replace(/[ \n]*\n/g, '\n').replace(/^\n/, '');
    return s.replace(/\n+$/, '');
  }

  // holdsInOrder reports whether all characters of part come in s, in their order.
  function holdsInOrder(s, part) {
    let i = 0;
    for (const c of s) if (c === part[i]) i++;
    return i >= part.length;
  }

  // typed says what has become of the text: '' it is there as it was typed,
  // 'nothing' of it came, more came ('added'), or other text did ('changed').
  function typed() {
    if (!job || job.hidden || job.unsure && focusOwner() !== job.e) return { as: '', value: '', secret: false }; // not to be seen, or in several fields
    const { e, text, before } = job, value = read(e), got = plain(e, value), want = plain(e, job.prefix + text + job.suffix);
    const result = as => ({ as, value: as && value.slice(0, 1000), secret: e.type === 'password', before, excess: got.startsWith(want) });
    if (got === want || !isText(e) && (got === plain(e, text) || rolled(got, want) || split(e, text))) return result('');
    if (!e.isConnected) return { as: 'gone', value: job.prefix + text + job.suffix, secret: false };
    if (text && got === plain(e, before)) return result('nothing');
    const whole = e.localName === 'input' ? text : want; // a mask shows the places that are still empty, too
    return result(text && holdsInOrder([...got], [...whole]) ? 'added' : 'changed');
  }

  // rolled reports whether an editor that draws only what is in view shows the end
  // of the text.
  const rolled = (got, want) => got.length < want.length * 0.9 && got.length > 400 && want.endsWith(got.slice(-200));

  // split reports whether an editor holds the text in more elements than the one of
  // its own that was named.
  const split = (e, text) => e.isContentEditable && hostOf(e) !== e && plain(e, hostOf(e).innerText).includes(plain(e, text));

  // reselect selects what was typed into a field together with what the page added.
  function reselect() {
    const { e, prefix, suffix } = job;
    e.setSelectionRange(prefix.length, e.value.length - suffix.length);
  }

  return { prepare, paste, typed, reselect };
})());
