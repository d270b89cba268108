// The clipboard of the run. The browser has only one clipboard for all runs, so a
// page neither copies to it nor pastes from it. Copied data is sent to the run, which
// sends it back before it presses a key that pastes.
Object.assign(globalThis.rote, (() => {
  'use strict';
  const { focusOwner } = rote.inner;
  const maxJSON = 1 << 20; // characters
  const types = ['copy', 'cut', 'paste'];
  let nextPaste = null; // the data of the next paste; null if nothing may be pasted

  // replaceEvent stops a clipboard event of the browser and dispatches one with our
  // own data to the page instead.
  function replaceEvent(event) {
    if (!event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    (event.type === 'paste' ? paste : copy)(event);
  }

  // dispatchLike dispatches an event of the same type and returns false if the page has
  // handled it.
  const dispatchLike = (event, clipboardData) => event.composedPath()[0]
    .dispatchEvent(new ClipboardEvent(event.type, { clipboardData, bubbles: true, cancelable: true, composed: true }));

  // copy sends the data that the page sets on the event to the run, or the selection if
  // the page does not handle the event.
  function copy(event) {
    const data = new DataTransfer(), unhandled = dispatchLike(event, data);
    const items = unhandled ? selected(event.composedPath()[0]) : [...data.types].map(type => ({ type, text: data.getData(type) }));
    if (!items.length) return;
    const json = JSON.stringify(items), kept = json.length <= maxJSON;
    tellRun(kept ? json : 'null');
    if (kept && unhandled && event.type === 'cut' && document.queryCommandEnabled('delete')) edit('deleteByCut', 'delete', '', {});
  }

  // selected returns the selection as text and, outside of fields, as HTML.
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

  // paste pastes the data of the run. Other pastes, such as that of the middle mouse
  // button, would paste a selection of another page. They are ignored.
  function paste(event) {
    if (!nextPaste) return;
    const { items, textOnly } = nextPaste, data = new DataTransfer();
    nextPaste = null;
    for (const { type, text, base64 } of items) {
      if (base64 === undefined) data.setData(type, text);
      else data.items.add(new File([Uint8Array.fromBase64(base64)], 'image.' + type.replace(/^.*\/|\+.*/g, ''), { type }));
    }
    if (dispatchLike(event, data) && document.queryCommandEnabled('insertText')) insert(items, data, textOnly);
  }

  // insert inserts the data as a browser does if the page does not handle the paste.
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

  // edit runs an editing command. The page's input events get inputType instead of the
  // type of the command.
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

  // hand sets the data of the next paste: the JSON of a list, or null if the run has
  // copied nothing.
  function hand(json, textOnly) {
    keepClipboard();
    const inner = focusOwner()?.ownerDocument.defaultView;
    if (inner && inner !== window) return inner.rote?.hand(json, textOnly);
    nextPaste = { items: JSON.parse(json) ?? [], textOnly };
  }

  // keepClipboard adds our listeners before those of the page. document.open removes all
  // listeners, so each operation that acts on the page calls it again.
  function keepClipboard() {
    for (const type of types) addEventListener(type, replaceEvent, true);
  }
  keepClipboard();
  new MutationObserver(keepClipboard).observe(document, { childList: true });

  return { keepClipboard, hand, hasFocus: () => document.hasFocus() };
})());
