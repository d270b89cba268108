// Runs in the helper's world, on demand: describes the element that a selector matches, and
// names it by what a person sees. elements and selectors are the objects of elements.js and
// selectors.js.
(() => {
  'use strict';
  const { all, around, documentIn, first, every, up, target } = rote.inner;
  const { roots, findRoots, actionable, read, is, editable, role, label, visible, plain, hide, holds, secretField, setSecrets,
    choicesOf, noteChoices, sameChoices } = elements;
  const { selectorOf, alternativesOf, gradeOfSelector } = selectors;
  const maxName = 80, maxNear = 60, maxOption = 80, maxOptions = 50;
  const maxAlike = 500; // elements of one role and name that are compared
  const maxItem = 5000; // characters of text around an element
  const maxURL = 2000;
  const maxTyped = 1000; // characters of a field's value
  const maxRead = 20000; // of it, in which secrets are masked first

  // --- retargeting

  const clickable = 'button,a[href],label,summary,[role=button],[role=link],[role=menuitem],' +
    '[role=option],[role=tab],[role=checkbox],[role=radio],[role=switch]';
  const maxClimb = 4; // levels

  // retarget returns the button, link or label around e that a click on e acts on; e itself
  // if there is none.
  function retarget(e, use) {
    if (use !== 'click' || is(e, actionable)) return e;
    for (let n = up(e), i = 0; n && i < maxClimb; n = up(n), i++) if (is(n, clickable)) return n;
    return e;
  }

  // --- names: role, accessible name and a text near the element

  const squeeze = text => text.replace(/\s+/g, ' ').trim();
  const nameOf = e => plain(label(e), maxName);

  // implicit are the elements that may have a role without an attribute for it.
  const implicit = { link: 'a', button: 'button,summary,input', textbox: 'input,textarea,[contenteditable]', combobox: 'select',
    checkbox: 'input', radio: 'input',
    slider: 'input', spinbutton: 'input', searchbox: 'input', file: 'input' };

  // withRole are the visible elements that have the role and the name.
  function withRole(wanted, name) {
    const found = [], tags = implicit[wanted] ?? (/^[a-z][\w-]*$/.test(wanted) ? wanted : '');
    const selector = [`[role=${CSS.escape(wanted)}]`, tags].filter(Boolean).join(',');
    for (const { root } of roots) {
      for (const e of root.querySelectorAll(selector)) {
        if (found.length >= maxAlike) return found;
        if (role(e) === wanted && nameOf(e) === name && visible(e)) found.push(e);
      }
    }
    return found;
  }

  // itemsOf maps each of the elements to the largest part of the page that contains none of
  // the others, such as its table row.
  function itemsOf(alike) {
    const counts = new Map(), items = new Map();
    for (const e of alike) for (let n = e; n; n = up(n)) counts.set(n, (counts.get(n) ?? 0) + 1);
    for (const e of alike) {
      let item = e;
      for (let n = up(e); n && counts.get(n) === 1 && n.localName !== 'body'; n = up(n)) item = n;
      items.set(e, item);
    }
    return items;
  }

  const itemText = item => squeeze(item.textContent.slice(0, maxItem));

  // near returns a text in the item of e that no other item has; '' if there is none.
  function nearOf(e, alike) {
    const items = itemsOf(alike), own = items.get(e), others = alike.filter(x => x !== e).map(x => itemText(items.get(x)));
    const inItem = selector => every(own, selector).slice(0, 100);
    for (const n of [...inItem('h1,h2,h3,h4,h5,h6,[role=heading],legend,th,a[href],strong,b'), ...inItem('td,label,span,p,dt,dd,li,div')]) {
      const text = squeeze(n.textContent.slice(0, 2 * maxNear));
      if (text.length < 2 || text.length > maxNear || n.contains(e) || e.contains(n) || holds(text) || plain(text, maxNear) !== text) continue;
      if (!others.some(o => o.includes(text))) return text;
    }
    return '';
  }

  // withTarget are the elements that have the role, the name and, if it is set, the text
  // near them.
  function withTarget({ role: wanted, name, near }) {
    if (!wanted || !name) return [];
    const alike = withRole(wanted, name);
    if (!near) return alike;
    const items = itemsOf(alike);
    return alike.filter(e => itemText(items.get(e)).includes(near));
  }

  // targetOf names e. matches is how many elements have that name. A secret is no name.
  function targetOf(e) {
    const wanted = plain(hide(role(e)), 30), name = nameOf(e);
    if (!name || name.includes('***')) return { role: wanted, matches: 0 };
    const alike = withRole(wanted, name);
    const near = alike.length > 1 && alike.includes(e) ? nearOf(e, alike) : '';
    return near ? { role: wanted, name, near, matches: 1 } : { role: wanted, name, matches: alike.length };
  }

  // --- fields

  const optionText = o => o.label || (o.localName === 'input' ? label(o) : o.textContent);
  const shown = texts => [...new Set(texts.slice(0, maxOptions).map(t => plain(hide(t), maxOption)).filter(Boolean))];

  // addChoices adds to the description of a list or a radio button what it offers, and
  // whether it may offer something else for other values: if its choices did not come with
  // the document, or are not shown exactly.
  function addChoices(field, e) {
    const choices = choicesOf(e), labels = choices.map(c => optionText(c).trim()), values = choices.map(c => c.value);
    field.options = shown(labels);
    if (field.type === 'radio') field.values = shown(values);
    const exact = choices.length < maxOptions && (field.values ?? field.options).length === choices.length
      && (field.values ? values : labels).every(t => shown([t])[0] === t);
    field.options_vary = !exact || !sameChoices(e);
  }

  // fieldOf describes what e accepts if it is a field, or the label or an option of one.
  function fieldOf(e) {
    if (e.localName === 'label' && e.control) e = e.control;
    const popup = read(e, 'role') === 'option' ? around(e, '[role=listbox]')
      : read(e, 'role') === 'combobox' && e.localName !== 'select' ? e.getRootNode().getElementById?.(read(e, 'aria-controls') || read(e, 'aria-owns')) : null;
    if (popup && (read(e, 'role') === 'option' || is(popup, '[role=listbox]'))) {
      return { label: plain(label(read(e, 'role') === 'option' ? popup : e, () => ''), maxName), type: 'listbox', options_vary: true,
        options: shown([...popup.querySelectorAll('[role=option]')].slice(0, maxOptions).map(optionText)) };
    }
    const input = e.localName === 'input' && !/^(submit|button|reset|image|hidden)$/.test(e.type);
    if (!input && !editable(e)) return undefined;
    const type = e.localName === 'select' || e.localName === 'textarea' ? e.localName : e.localName === 'input' ? e.type : 'contenteditable';
    const text = name => plain(hide(read(e, name)), 200);
    const field = { label: nameOf(e), type, required: e.required || read(e, 'aria-required') === 'true', secret: secretField(e) };
    if (e.localName === 'select' || type === 'radio') addChoices(field, e);
    if (e.list) Object.assign(field, { options: shown([...e.list.options].slice(0, maxOptions).map(o => o.value)), options_vary: true }); // it only suggests
    if (input) Object.assign(field, { min: text('min'), max: text('max'), step: text('step'), pattern: text('pattern') });
    if (e.maxLength > 0 && e.maxLength < 1e6) field.max_length = e.maxLength;
    return field;
  }

  // valueOf is the text that a field holds, '***' instead of one that may be a secret; ''
  // for fields into which no text is added: those whose values are chosen or set.
  function valueOf(e) {
    const typed = e.localName === 'textarea' || e.localName === 'input' && /^(text|search|url|tel|email|number|password)$/.test(e.type);
    const value = typed ? e.value : e.isContentEditable ? e.innerText.trim() : '';
    return value && secretField(e) ? '***' : hide(value.slice(0, maxRead)).slice(0, maxTyped);
  }

  // inLoginForm reports whether e is in a form, or a part of a page without forms, that has
  // one password field. Where a new password is chosen, somebody registers or changes it.
  function inLoginForm(e) {
    const form = e.form ?? around(e, 'form'), password = 'input[type=password]';
    const logsIn = fields => fields.length === 1 && read(fields[0], 'autocomplete') !== 'new-password';
    if (form) return logsIn(every(form, password));
    for (let n = e, i = 0; n && n.localName !== 'body' && i < 6; n = up(n), i++) {
      const fields = is(n, password) ? [n] : every(n, password);
      if (fields.length) return logsIn(fields);
    }
    return false;
  }

  // formMethod is the method with which e submits its form, as the form itself says it. Most
  // forms that say nothing are sent by a script.
  function formMethod(e) {
    const form = e.form, submits = is(e, 'button,input[type=submit],input[type=image]');
    if (!form || submits && e.type !== 'submit' && e.type !== 'image') return '';
    if (submits && is(e, '[formmethod]')) return e.formMethod;
    return is(form, '[method],[action]') ? read(form, 'method').toLowerCase() || 'get' : '';
  }

  // submitName is the name of the button that Enter in a field presses.
  function submitName(e) {
    if (!e.form || !editable(e)) return '';
    const button = first(e.form, 'button:not([type=button],[type=reset]),input[type=submit],input[type=image]');
    return button ? nameOf(button) : '';
  }

  // hintOf is what the attributes of e and of what is in it say, if its name says nothing, as
  // that of an icon.
  function hintOf(e) {
    if (/\p{L}{2}/u.test(nameOf(e))) return '';
    const named = [e, ...every(e, '*').slice(0, 5)], said = ['title', 'aria-label', 'data-testid', 'data-test', 'id', 'name', 'class', 'href'];
    return plain(hide(named.flatMap(n => said.map(a => read(n, a))).join(' ')), maxName * 2);
  }

  // submitsOnChange reports whether e sends its form as soon as something is chosen in it.
  const submitsOnChange = e => is(e.control ?? e, '[onchange*=submit i],[oninput*=submit i],[onclick*=submit i]');

  const dialogs = 'dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]';
  const outer = n => up(n) ?? n.ownerDocument.defaultView?.frameElement;

  // inDialog reports whether e is in a dialog, or in a layer over most of the page.
  function inDialog(e) {
    for (let n = e; n; n = outer(n)) if (is(n, dialogs) || isLayer(n)) return true;
    return false;
  }

  // isLayer reports whether n is fixed above at least half of what can be seen of its
  // document. The z-index tells it from the frame of an app, which is fixed too.
  function isLayer(n) {
    const view = n.ownerDocument.defaultView, style = view?.getComputedStyle(n);
    if (style?.position !== 'fixed' || !(parseInt(style.zIndex, 10) > 0)) return false;
    const box = n.getBoundingClientRect();
    return box.width * box.height >= view.innerWidth * view.innerHeight / 2;
  }

  // --- the whole

  function prepare(o) {
    setSecrets(o.secrets);
    findRoots();
    noteChoices();
    selectors.setHurry(performance.now() + o.budget);
  }

  // describe describes the first match of the selector that can be seen, or else the first
  // one. usable reports whether it can be seen. proposals are selectors that match only this
  // element in this view, the best one first.
  function describe(o) {
    prepare(o);
    const found = all(o.selector, 1000), typing = o.use === 'text';
    if (!found.length) return { matches: 0 };
    const seen = o.use === 'read' ? found[0] : found.slice(0, 50).find(f => !target(f.e, typing).why);
    const given = (seen ?? found[0]).e, described = about(retarget(given, o.use));
    const grade = described.proposals.find(x => x.selector === o.selector)?.grade ?? gradeOfSelector(o.selector);
    return { matches: found.length, usable: !!seen, given_grade: grade, ...described };
  }

  // about describes an element, after prepare.
  function about(e) {
    const best = selectorOf(e), proposals = [...best ? [best] : [], ...alternativesOf(e)].map(({ selector, grade }) => ({ selector, grade }));
    return { proposals, target: targetOf(e), field: fieldOf(e), value: valueOf(e),
      in_login_form: inLoginForm(e), form_method: formMethod(e), submits_on_change: submitsOnChange(e),
      submit_name: submitName(e), hint: hintOf(e), in_dialog: inDialog(e), frame_url: hide(e.ownerDocument.URL).slice(0, maxURL),
      document_at: e.ownerDocument.defaultView.performance.timeOrigin };
  }

  // countTarget is how many elements of this view have the role and the name, and the text
  // near them.
  function countTarget(o) {
    prepare(o);
    return withTarget(o.target).length;
  }

  // at is the element at a point of the viewport, in fractions of its size: a selector, and
  // whether a text can be typed into it. It looks into open shadow roots and frames of the same
  // origin; outside reports whether the point is in another frame.
  function at(o) {
    prepare(o);
    let x = o.x * innerWidth, y = o.y * innerHeight, root = document, e = null;
    for (let found; (found = root.elementFromPoint(x, y)) && found !== e;) {
      e = found;
      const inner = documentIn(e), box = inner && e.getBoundingClientRect();
      if (box) [x, y] = [x - box.left - e.clientLeft, y - box.top - e.clientTop];
      root = inner || e.shadowRoot || root;
    }
    if (!e) return { selector: '' };
    if (is(e, 'iframe,frame')) return { selector: '', outside: true };
    const acted = retarget(e, 'click'), control = is(acted, 'label') && acted.control ? acted.control : acted;
    return { selector: selectorOf(control)?.selector ?? '', typed: editable(control) };
  }

  return { describe, about, countTarget, at, prepare, withTarget, retarget };
})()
