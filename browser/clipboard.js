// The clipboard of the run. The browser has one clipboard for all of its runs, so
// nothing that a page copies gets there, and nothing is pasted from there: what is
// copied is told to the run, which hands it over before a key that pastes.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { focusOwner } = rote.inner;
  const most = 1 << 20; // characters of JSON
  const types = ['copy', 'cut', 'paste'];
  let handed = null; // what the next paste brings; null: nothing is to be pasted

  // instead takes the place of an event of the browser's: the page gets one like it,
  // with data of our own.
  function instead(event) {
    if (!event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    (event.type === 'paste' ? paste : copy)(event);
  }

  const like = (event, clipboardData) => event.composedPath()[0]
    .dispatchEvent(new ClipboardEvent(event.type, { clipboardData, bubbles: true, cancelable: true, composed: true }));

  // copy keeps what the page puts into the event, or else what is selected.
  function copy(event) {
    const data = new DataTransfer(), unhandled = like(event, data);
    const items = unhandled ? selected(event.composedPath()[0]) : [...data.types].map(type => ({ type, text: data.getData(type) }));
    if (!items.length) return;
    const json = JSON.stringify(items), kept = json.length <= most;
    tellRun(kept ? json : 'null');
    if (kept && unhandled && event.type === 'cut' && document.queryCommandEnabled('delete')) edit('deleteByCut', 'delete', '', {});
  }

  // selected is the selection as text and, outside of fields, as HTML.
  function selected(e) {
    const field = e.localName === 'input' || e.localName === 'textarea';
    if (field && e.type === 'password') return [];
    if (field && typeof e.selectionStart === 'number') return plain(e.value.slice(e.selectionStart, e.selectionEnd));
    const root = e.getRootNode(), s = root.getSelection?.() ?? document.getSelection();
    const text = plain(s.toString() || document.getSelection().toString());
    if (field || !s.rangeCount || s.isCollapsed) return text;
    const html = document.implementation.createHTMLDocument().createElement('div');
    for (let i = 0; i < s.rangeCount; i++) html.append(s.getRangeAt(i).cloneContents());
    for (const n of html.querySelectorAll('[href],[src]')) {
      for (const name of ['href', 'src']) if (n.hasAttribute(name)) n.setAttribute(name, absolute(n.getAttribute(name)));
    }
    return [...text, { type: 'text/html', text: html.innerHTML }];
  }

  const plain = text => text ? [{ type: 'text/plain', text }] : [];
  const absolute = url => URL.parse(url, document.baseURI)?.href ?? url;

  // paste brings what the run has copied. Other pastes, as that of the middle mouse
  // button, bring what is selected somewhere in the browser: they are dropped.
  function paste(event) {
    if (!handed) return;
    const { items, textOnly } = handed, data = new DataTransfer();
    handed = null;
    for (const { type, text, base64 } of items) {
      if (base64 === undefined) data.setData(type, text);
      else data.items.add(new File([Uint8Array.fromBase64(base64)], 'image.' + type.replace(/^.*\/|\+.*/g, ''), { type }));
    }
    if (like(event, data) && document.queryCommandEnabled('insertText')) insert(items, data, textOnly);
  }

  // insert does what a browser does with a paste that the page leaves to it.
  function insert(items, dataTransfer, textOnly) {
    const e = focusOwner(), text = dataTransfer.getData('text/plain').replace(/\r\n?/g, '\n');
    const rich = e.isContentEditable && !textOnly && !e.closest('[contenteditable=plaintext-only]');
    const html = rich ? dataTransfer.getData('text/html') : '', image = rich && items.find(i => i.base64 !== undefined);
    if (html || image && !text) {
      const clean = document.implementation.createHTMLDocument().createElement('div');
      if (html) clean.setHTML(html);
      else clean.append(Object.assign(document.createElement('img'), { src: `data:${image.type};base64,${image.base64}` }));
      edit('insertFromPaste', 'insertHTML', clean.innerHTML, { dataTransfer });
    } else if (text && e.isContentEditable) {
      edit('insertFromPaste', 'insertText', text, { dataTransfer });
    } else if (text) {
      const line = e.localName === 'textarea' ? text : text.replaceAll('\n', ' ');
      edit('insertFromPaste', 'insertText', line, { data: line });
    }
  }

  // edit does an editing command. The page hears of it as of the kind that it stands
  // for.
  function edit(inputType, command, value, init) {
    const e = focusOwner(), about = { ...init, inputType, bubbles: true, composed: true };
    if (!e.dispatchEvent(new InputEvent('beforeinput', { ...about, cancelable: true }))) return;
    const rename = event => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      if (event.type === 'input') event.composedPath()[0].dispatchEvent(new InputEvent('input', about));
    };
    const each = change => { for (const type of ['beforeinput', 'input']) window[change](type, rename, true); };
    each('addEventListener');
    try { document.execCommand(command, false, value); } finally { each('removeEventListener'); }
  }

  // hand says what the next paste brings: JSON of a list, empty at first.
  function hand(json, textOnly) {
    keepClipboard();
    const inner = focusOwner()?.ownerDocument.defaultView;
    if (inner && inner !== window) return inner.rote?.hand(json, textOnly);
    handed = { items: JSON.parse(json) ?? [], textOnly };
  }

  // keepClipboard listens before the page's own code does. A document that is opened
  // anew loses all listeners, so each operation that acts on the page calls it again.
  function keepClipboard() {
    for (const type of types) addEventListener(type, instead, true);
  }
  keepClipboard();
  new MutationObserver(keepClipboard).observe(document, { childList: true });

  return { keepClipboard, hand, hasFocus: () => document.hasFocus() };
})());
