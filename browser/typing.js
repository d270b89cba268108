// Typing: the caret where the text is to go, or the value set where no text is
// typed.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { option } = rote.inner;

  const setTypes = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];

  const tell = (e, ...names) => { for (const n of names) e.dispatchEvent(new Event(n, { bubbles: true, composed: true })); };

  // prepare focuses the target and puts the caret where typing is to begin. It
  // says how the text gets in: 'keys', or 'done' when it is in already.
  function prepare(text, clear) {
    const e = globalThis.roteTarget;
    e.focus();
    if (e.getRootNode().activeElement !== e && !e.isContentEditable) return { how: 'lost' };
    if (e.localName === 'select') return choose(e, text, clear);
    if (e.localName === 'input' && setTypes.includes(e.type)) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, text);
      tell(e, 'input', 'change');
      return { how: 'done', differs: e.value !== text };
    }
    let noCaret = false;
    const before = clear ? '' : (e.isContentEditable ? e.innerText : e.value);
    if (e.isContentEditable) {
      const s = e.ownerDocument.getSelection();
      s.selectAllChildren(e);
      if (!clear) s.collapseToEnd();
    } else if (clear) {
      e.select();
    } else {
      try { e.setSelectionRange(e.value.length, e.value.length); } catch { noCaret = true; } // email and number
    }
    const multiline = e.localName === 'textarea' || e.isContentEditable;
    return { how: 'keys', before, multiline, noCaret, editable: e.isContentEditable, empty: clear && before === '' && !(e.isContentEditable ? e.innerText : e.value) };
  }

  function choose(e, text, clear) {
    const o = option(e, text);
    if (!o) return { how: 'changed' };
    const others = clear && e.multiple ? [...e.selectedOptions].filter(other => other !== o) : [];
    if (!o.selected || others.length) {
      for (const other of others) other.selected = false;
      o.selected = true;
      tell(e, 'input', 'change');
    }
    return { how: 'done', differs: false };
  }

  const typed = () => {
    const e = globalThis.roteTarget;
    return e.isContentEditable ? e.innerText : e.value;
  };

  return { prepare, typed };
})());
