// Runs in an isolated world of each frame that a person uses: reports what the person does.
// tools makes new objects of describe.js, look.js and elements.js, which know the page as it is.
// The page can neither call roteRecorded nor send events that count: those of scripts are not
// trusted. The value of a secret field is used here to keep it out of selectors, and not reported.
tools => {
  'use strict';
  const { is, attribute, around, up } = rote.inner;
  const report = globalThis.roteRecorded, maxText = 20000, maxDrag = 10, budget = 300;
  globalThis.roteTools = tools;

  // Selectors hold in all frames of one origin, so the tools are those of the outermost of them.
  function outermost() {
    let w = window;
    try { while (w.parent !== w && w.parent.document) w = w.parent; } catch { /* of another origin */ }
    return (w.roteTools ?? tools)();
  }

  const say = what => report(JSON.stringify(what));
  const element = e => e?.nodeType === Node.ELEMENT_NODE ? e : null;
  const target = event => element(event.composedPath()[0]) ?? element(event.target);

  // --- secrets: a field stays one also when the page shows what was typed

  const secretFields = new Set();
  const noteSecrets = root => {
    for (const e of root.querySelectorAll('input[type=password]')) secretFields.add(e);
  };
  new MutationObserver(changes => {
    for (const { target, oldValue } of changes) if (oldValue === 'password') secretFields.add(target);
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true });
  const secrets = () => [...secretFields].map(e => e.value).filter(Boolean);

  // --- elements

  const editable = '[contenteditable]:not([contenteditable=false])';
  const typed = /^(text|search|url|tel|email|number|password)$/;
  const takesText = e => e.localName === 'textarea' || e.localName === 'input' && typed.test(e.type) || is(e, editable);
  // chosen matches the fields whose value is reported when it changes, and not the clicks on them.
  const chosen = e => e.localName === 'select' || e.localName === 'option' || e.localName === 'input' && !takesText(e)
    && !/^(checkbox|radio|submit|button|reset|image)$/.test(e.type);

  // about describes e for the report.
  function about(e, { described, elements }) {
    if (e.localName === 'input' && elements.secretField(e)) secretFields.add(e);
    described.prepare({ secrets: secrets(), budget });
    const { proposals, target, field, document_at } = described.about(e);
    if (field && secretFields.has(e)) field.secret = true;
    return { proposals, target, field, document_at };
  }

  // acted is the element that a click on e acts on: the control of a label is one with it.
  function acted(e, { described }) {
    const to = described.retarget(e, 'click');
    return is(to, 'label') && to.control ? to.control : to;
  }

  const fields = new Map(); // each with its number and its description, as it was before typing
  function fieldOf(e) {
    if (!fields.has(e)) fields.set(e, { number: fields.size + 1, about: about(e, outermost()) });
    return fields.get(e);
  }

  // handled tells that the page has handled what was reported, and has begun the navigations of its
  // handlers. A form is sent by a task of its own, hence the second timer.
  const handled = () => setTimeout(() => setTimeout(() => say({ kind: 'handled' })));

  // --- the mouse

  let down = null; // the press of a button that is not released yet
  let over = null, overAt = 0; // the element under the pointer, and since when
  const on = (name, listen) => addEventListener(name, event => event.isTrusted && listen(event), { capture: true, passive: false });

  on('pointermove', event => { [over, overAt] = [target(event), performance.timeOrigin + performance.now()]; });
  on('pointerdown', event => {
    endScroll();
    noteSecrets(document);
    const e = target(event);
    if (!e || event.altKey) return;
    const t = outermost(), to = acted(e, t);
    down = { to, x: event.clientX, y: event.clientY, about: chosen(to) ? null : about(to, t) };
  });

  const heldKeys = event => ['Control', 'Alt', 'Shift', 'Meta'].filter(key => event.getModifierState(key));

  function clicked(event, button) {
    const { to, x, y, about } = down ?? {};
    if (!about || Math.hypot(event.clientX - x, event.clientY - y) > maxDrag) return;
    say({ kind: 'click', about, button, count: Math.max(1, event.detail), focus: takesText(to), held: heldKeys(event).join('+') });
  }
  on('click', event => {
    if (event.altKey) return;
    if (event.detail > 0) clicked(event, 'left'); // 0: a key or the page made it
    down = null;
    handled();
  });
  on('pointerup', event => { // there is no click on what the page has removed since, as a list of suggestions
    if (!down || down.to.isConnected || event.button !== 0) return;
    clicked(event, 'left');
    down = null;
    handled();
  });
  on('auxclick', event => { if (event.button === 1) clicked(event, 'middle'); });
  addEventListener('contextmenu', event => { // a menu of the page itself
    if (event.isTrusted && event.defaultPrevented) clicked(event, 'right');
  });
  on('dragstart', () => say({ kind: 'drag' }));

  // A click with Alt marks a result; the page does not see it.
  for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
    on(name, event => {
      if (!event.altKey || event.button !== 0) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (name === 'click') mark(target(event));
    });
  }

  function mark(e) {
    if (!e) return;
    const t = outermost(), options = { secrets: secrets(), budget }, list = t.looked.listAround(options, e);
    const { script = '', count = 0 } = list ? t.looked.extract({ ...options, extract: list }) : {};
    say({ kind: 'result', about: about(e, t), list, script, count });
  }
  globalThis.rotePointedAt = () => over?.isConnected ? overAt : 0;
  globalThis.roteMark = () => mark(over);

  // --- typing

  const host = e => is(e, editable) ? around(e, editable) : e;
  on('focusin', event => { // before the page changes the field
    noteSecrets(document);
    const e = target(event);
    if (e && takesText(host(e))) fieldOf(host(e));
  });
  on('input', event => {
    const e = target(event) && host(target(event));
    if (!e || !takesText(e)) return;
    const { number, about } = fieldOf(e), text = 'value' in e ? e.value : e.innerText;
    const secret = about.field?.secret || secretFields.has(e);
    say({ kind: 'type', about, number, secret, text: secret ? '' : text.slice(0, maxText), empty: text === '' });
  });
  on('change', event => {
    const e = target(event);
    if (!e || !chosen(e)) return;
    if (e.type === 'file') return say({ kind: 'upload', about: about(e, outermost()) });
    const { number, about: a } = fieldOf(e), option = e.localName === 'select' ? [...e.selectedOptions] : [];
    const text = e.localName === 'select' ? option[0]?.label.trim() ?? '' : e.value;
    say({ kind: 'choose', about: a, number, text: text.slice(0, maxText), count: option.length });
  });

  // --- keys

  const menus = '[role=listbox],[role=option],[role=combobox],[role^=menu],[role=tab],[role=tree],[role=grid],[role=radio],[type=radio],[role=slider],' +
    '[aria-autocomplete],[aria-haspopup],[list]';
  const acting = /^(Enter|Escape|Tab|ArrowUp|ArrowDown|ArrowLeft|ArrowRight|F[1-9]|F1[012])$/;
  const actsLater = /^(Enter| )$/; // in a form or on a button, by the events that follow
  const editing = /^[acvxyz]$/i; // with Control: select all, copy, paste, cut, undo

  // isKey reports whether a key does something else than type or scroll.
  function isKey(event, e) {
    const text = takesText(host(e)), { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey)
      return !/^(Control|Meta|Alt|Shift|AltGraph|Dead)$/.test(key) && !editing.test(key) && !event.getModifierState('AltGraph');
    if (e.localName === 'select' || (text || chosen(e)) && key.length === 1) return false;
    if (key === 'Enter') return !text || host(e).localName === 'input';
    if (/^Arrow/.test(key)) return is(e, menus) || !!around(e, menus);
    return acting.test(key) || key.length === 1 && (key !== ' ' || is(e, 'button,summary,input,[role],[tabindex]'));
  }

  function pressed(event) {
    const held = heldKeys(event).filter(key => key !== 'Shift' || event.key.length > 1);
    say({ kind: 'press', key: [...held, event.key === ' ' ? 'Space' : event.key].join('+') });
    if (!actsLater.test(event.key)) handled();
  }
  on('keypress', event => event.key === 'Enter' && handled());
  on('keydown', event => {
    endScroll();
    const e = target(event);
    if (e && !event.isComposing && (!event.repeat || /^Arrow/.test(event.key)) && isKey(event, e)) pressed(event);
  });
  addEventListener('keydown', event => { // an Enter in a text of several lines that the page takes to send it
    const e = event.isTrusted && target(event);
    if (e && event.key === 'Enter' && event.defaultPrevented && !event.isComposing && !isKey(event, e)) pressed(event);
  });

  // --- scrolling, if it brings more

  const items = e => (e ?? document).querySelectorAll('li,tr,article,[role=listitem],[role=row],a[href]').length;
  const topOf = e => e ? e.scrollTop : scrollY;
  let wheeled = 0, tops = new Map(), scrolled = null; // tops: where what is around the wheel was before it turned
  on('wheel', event => {
    if (performance.now() - wheeled > 1000) tops = new Map();
    wheeled = performance.now();
    for (let e = target(event); e; e = up(e)) if (!tops.has(e)) tops.set(e, e.scrollTop);
    if (!tops.has(null)) tops.set(null, scrollY);
  });
  on('scroll', event => {
    if (performance.now() - wheeled > 1000) return;
    const e = element(event.target);
    if (scrolled?.e !== e) {
      endScroll();
      scrolled = { e, from: tops.get(e) ?? topOf(e), count: items(e) };
    }
    clearTimeout(scrolled.timer);
    scrolled.timer = setTimeout(endScroll, 2000);
  });

  // endScroll reports the scrolling, before anything that the person does next.
  function endScroll() {
    if (!scrolled) return;
    const { e, from, count, timer } = scrolled, way = Math.round(topOf(e) - from);
    clearTimeout(timer);
    scrolled = null;
    if (items(e) >= count + 3 && way > 0) say({ kind: 'scroll', way, about: e ? about(e, outermost()) : undefined });
  }
}
