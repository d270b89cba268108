// Runs in the helper's world, on demand: finds the elements of the page and says what they
// are called. The evidence of failed operations and the look share it.
(() => {
  'use strict';
  const { documentIn, is, attribute, first, describe, flat, target, untypable, clippedAway } = rote.inner;
  const maxOwn = 20000; // characters of an element's text; a longer one is no label
  const maxRoots = 500;
  const maxNodes = 3000; // nodes that are visited for one text

  // --- secrets are replaced in texts before those are truncated
  let secrets = findSecrets([]);
  const setSecrets = list => (secrets = findSecrets(list));
  const holds = text => secrets.holds(text);
  const hide = text => secrets.hide(text);

  // roots are the document, the open shadow roots and the frames of the same origin, each
  // with the frames that contain it and with words that say where it is.
  const roots = [];
  function findRoots() {
    roots.length = 0;
    const visit = (root, frames, where) => {
      roots.push({ root, frames, where });
      for (const e of root.querySelectorAll('*')) {
        if (roots.length >= maxRoots) return;
        if (e.shadowRoot) visit(e.shadowRoot, frames, 'in the shadow root of ' + describe(e));
        const inner = documentIn(e);
        if (inner) visit(inner, [...frames, e], 'in the frame ' + describe(e));
      }
    };
    visit(document, [], window === top ? '' : 'in a frame of ' + (location.host || location.protocol));
  }

  // matches are the first elements of each root that the selector matches.
  const matches = selector => roots.flatMap(root => {
    try { return [...root.root.querySelectorAll(selector)].slice(0, 20).map(e => ({ e, root })); } catch { return []; } // not a selector
  });

  // --- what an element is
  const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa', 'data-automation-id', 'data-hook'];
  const actionable = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio],' +
    '[role=switch],[role=tab],[role=menuitem],[role=option],[role=combobox],[role=textbox],[role=searchbox],' +
    '[onclick],[contenteditable]:not([contenteditable=false]),[tabindex]:not([tabindex="-1"])';
  const read = (e, name) => attribute(e, name) ?? '';
  const editable = e => untypable(e) === null;
  const buttonInput = e => e.localName === 'input' && /^(submit|button|reset)$/.test(e.type);

  const inputRoles = {
    checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button', reset: 'button', image: 'button', range: 'slider',
    number: 'spinbutton', search: 'searchbox', file: 'file',
  };
  function role(e) {
    if (attribute(e, 'role') !== null) return read(e, 'role');
    if (e.localName === 'input') return inputRoles[e.type] ?? 'textbox';
    return { a: 'link', textarea: 'textbox', select: 'combobox', summary: 'button' }[e.localName] ?? (e.isContentEditable ? 'textbox' : e.localName);
  }

  // --- what an element is called

  // optionTexts are the options of a list, as text.
  const optionTexts = e => [...e.options].slice(0, 20).map(o => o.label.trim()).filter(Boolean).join(', ');
  // labelText is the text of a label without the options of its control.
  const labelText = l => [...l.querySelectorAll('select,datalist')].reduce((text, list) => text.replace(list.textContent, ' '), l.textContent);

  // label is what a person reads on the element or next to it, never its value. textIn
  // returns the text in an element.
  function label(e, textIn = e => e.textContent) {
    const by = read(e, 'aria-labelledby').split(/\s+/).filter(Boolean).map(id => e.getRootNode().getElementById?.(id)?.textContent ?? '').join(' ');
    const skipped = editable(e) || first(e, 'textarea,[contenteditable]') || e.textContent.length > maxOwn;
    const own = e.localName === 'select' ? optionTexts(e) : skipped ? '' : textIn(e);
    const said = [read(e, 'aria-label'), by, ...[...e.labels ?? []].map(labelText), buttonInput(e) ? read(e, 'value') : '', own,
      read(e, 'placeholder'), read(e, 'alt'), first(e, 'img[alt]')?.alt ?? '', read(e, 'title')];
    return said.map(s => hide(s).replace(/\s+/g, ' ').trim()).find(Boolean) ?? '';
  }

  // secretName matches words in the name of a field for a password, a code or a card number.
  const secretName = /^(password|passwd|pwd|passcode|passphrase|pass|pin|otp|totp|cvv|cvc|csc|secret|token)$/;

  // secretField reports whether the value of a field may be a secret.
  function secretField(e) {
    if (e.type === 'password' || /one-time-code|cc-|password/.test(read(e, 'autocomplete'))) return true;
    if (e.localName === 'input' && /^(checkbox|radio|submit|button|reset|image|file|range|color)$/.test(e.type)) return false;
    if (e.localName === 'select') return false;
    return [read(e, 'name'), read(e, 'id'), read(e, 'aria-label')].some(name => {
      const words = name.replace(/([a-z\d])(?=[A-Z])/g, '$1 ').toLowerCase().split(/[^a-z]+/);
      return words.some(w => secretName.test(w)) || /(card|cc)\s?(number|num|no)$/.test(words.join(' ').trim());
    });
  }

  // --- what can be chosen

  // groupOf are the radio buttons of which one can be chosen, with r.
  const groupOf = r => !r.name ? [r] : [...r.getRootNode().querySelectorAll('input[type=radio]')].filter(x => x.name === r.name && x.form === r.form);

  // choicesOf are the options of a list, or the radio buttons of the group of e. Those that
  // cannot be chosen or have no value only ask to choose.
  const choicesOf = e => e.localName === 'select'
    ? [...e.options].filter(o => o.value !== '' && !o.hidden && !o.disabled && !o.parentElement.disabled)
    : groupOf(e).filter(r => read(r, 'value') !== '' && !r.disabled);

  const choicesText = e => JSON.stringify(choicesOf(e).map(c => [c.label, c.value]));
  const maxNoted = 200; // lists and radio buttons

  // noteChoices notes what the lists and the radio buttons of the document offer when it is
  // examined for the first time: the choices that came with it.
  function noteChoices() {
    if (rote.inner.firstChoices) return;
    const noted = rote.inner.firstChoices = new WeakMap();
    const lists = roots.flatMap(({ root }) => [...root.querySelectorAll('select,input[type=radio]')]);
    for (const e of lists.slice(0, maxNoted)) noted.set(e, choicesText(e));
  }

  // sameChoices reports whether e still offers what came with the document.
  const sameChoices = e => rote.inner.firstChoices.get(e) === choicesText(e);

  // --- what a person sees
  const unread = 'script,style,noscript,template,textarea,select,[contenteditable]:not([contenteditable=false])';
  const inline = e => /^(inline|contents)$/.test(getComputedStyle(e).display);

  // rendered reports whether something in e can be visible. It is cheaper than visible.
  function rendered(e) {
    const s = getComputedStyle(e);
    if (!e.checkVisibility({ opacityProperty: true })) return s.display === 'contents';
    if (clippedAway(s)) return false;
    const r = e.getBoundingClientRect();
    return r.width >= 2 && r.height >= 2 || s.overflow === 'visible';
  }

  // visible reports whether an operation on e would find that a person can see it.
  function visible(e) {
    if (target(e, editable(e)).why) return false;
    const r = (target(e, editable(e)).e ?? e).getBoundingClientRect(), v = e.ownerDocument.defaultView;
    return r.right + v.scrollX > 0 && r.bottom + v.scrollY > 0;
  }

  // textOf is the beginning of the visible text in e, with a space between blocks and
  // without the values of fields. It has at most max characters.
  function textOf(e, max) {
    const room = max + secrets.longest; // so that a secret at the end is complete when it is masked
    let text = '', left = maxNodes;
    const shown = e => getComputedStyle(e).visibility === 'visible';
    const stack = [{ nodes: flat(e), next: 0, shown: shown(e) }];
    while (stack.length && text.length < room && left-- > 0) {
      const list = stack.at(-1), n = list.nodes[list.next++];
      if (!n) { stack.pop(); if (list.block) text += ' '; continue; }
      if (n.nodeType === Node.TEXT_NODE && list.shown) text += n.data.slice(0, room);
      if (n.nodeType !== Node.ELEMENT_NODE || is(n, unread) || !rendered(n)) continue;
      const block = !inline(n);
      if (block) text += ' ';
      stack.push({ nodes: flat(n), next: 0, block, shown: shown(n) });
    }
    return secrets.hide(text, text.length >= room).replace(/\s+/g, ' ').trim().slice(0, max);
  }

  // plain is the text on one line, in at most max characters, without characters that
  // nobody sees and without halves of surrogate pairs.
  function plain(text, max) {
    const all = String(text ?? '').slice(0, 8 * max + 200).toWellFormed()
      .replace(/[\s\p{Cc}\p{Co}\p{Cn}\u2028\u2029]+/gu, ' ').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, '').trim();
    const points = [...all];
    return points.length > max ? points.slice(0, max - 1).join('') + '…' : all;
  }

  return { setSecrets, holds, hide, roots, findRoots, matches, testIds, actionable, read, is, editable, buttonInput, role, label, secretField,
    choicesOf, noteChoices, sameChoices, rendered, visible, textOf, plain };
})()
