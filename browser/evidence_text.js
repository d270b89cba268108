// Runs in the helper's world, only after an operation has failed: returns what a person
// reads on the page. evidence.js calls it with the documents of the page, with a limit on
// the time (late), and with functions that hide secrets.
(page, max) => {
  'use strict';
  const { roots, late, hide, longest } = page;
  const { is, attribute, every, first, up } = rote.inner;
  const unread = 'script,style,noscript,template,textarea,select,[contenteditable]:not([contenteditable=false])';
  const alerts = '[role=alert],[role=alertdialog],dialog[open],[aria-live]:not([aria-live=off]),' +
    '[class*=error i],[class*=alert i],[class*=invalid i],[class*=warning i]';
  const apparent = { visibilityProperty: true, opacityProperty: true };
  const framing = 'nav,header,footer,aside,[role=navigation],[role=banner],[role=contentinfo]';
  const framingName = /(^|[-_\s])(header|masthead|nav|navbar|navigation|topbar|menubar|menu|breadcrumbs?|footer|sidebar)([-_\s]|$)/i;

  // inner lists the nodes that are rendered in e: in its shadow root or slot, or else its child nodes.
  function inner(e) {
    const assigned = e.localName === 'slot' ? e.assignedNodes() : [];
    return assigned.length ? assigned : (e.shadowRoot ?? e).childNodes;
  }

  // spoken is the beginning of the visible text in box, including its open shadow roots,
  // with a space between blocks, and without the values of fields and what is left out.
  function spoken(box, leftOut = () => false) {
    let text = '', block = null, judged = 0;
    const drawn = e => e.checkVisibility(apparent) || getComputedStyle(e).display === 'contents';
    const seen = e => !late(judged++, 2000) && !is(e, unread) && drawn(e) && !leftOut(e);
    const lists = [{ nodes: inner(box), next: 0 }]; // the ancestors of the current node
    while (text.length < room && lists.length) {
      const list = lists.at(-1), n = list.nodes[list.next++];
      if (!n) lists.pop();
      else if (n.nodeType === Node.ELEMENT_NODE && seen(n)) lists.push({ nodes: inner(n), next: 0 });
      if (n?.nodeType !== Node.TEXT_NODE) continue;
      let of = n.parentElement ?? n.parentNode.host;
      while (of && of !== box && /^(inline|contents)$/.test(getComputedStyle(of).display)) of = up(of);
      text += (of === block ? '' : ' ') + n.data.slice(0, room).replace(/\s+/g, ' ');
      block = of;
    }
    return text;
  }

  // isNamedFraming reports whether the names of e, and the links in it, say that it stands
  // around the content. Names may mislead, so its text comes last instead of never.
  function isNamedFraming(e) {
    const names = ((attribute(e, 'id') ?? '') + ' ' + (attribute(e, 'class') ?? '')).replace(/([a-z\d])(?=[A-Z])/g, '$1-');
    return framingName.test(names) && every(e, 'a,button').length > 1 && !first(e, 'main,[role=main],article,' + alerts);
  }

  const tidy = t => hide(t, t.length >= room).replace(/\s+/g, ' ').trim();

  // contentOf is the text of the main content of a document, and what stands around it.
  function contentOf(box) {
    const around = [];
    const text = tidy(spoken(box, e => is(e, framing) || isNamedFraming(e) && around.push(e)));
    return { text, around: text ? around.slice(0, 3).map(e => tidy(spoken(e))) : [tidy(spoken(box))] };
  }

  // The text has at most max characters: first the alerts, then the main content, and then
  // that of two frames, for which there is room in any case. around is what comes last.
  const room = max + longest; // so that a secret at the end is complete when it is masked
  const shown = roots.flatMap(r => [...r.root.querySelectorAll(alerts)].slice(0, 20)).filter(e => e !== document.body && e.checkVisibility(apparent))
    .slice(0, 3).map(e => tidy(spoken(e)));
  const mainOf = (some, body) => some.map(r => r.root.querySelector('main,[role=main]')).find(e => e?.checkVisibility(apparent)) ?? body;
  const framed = roots.filter(r => r.frames.length && r.root.body && r.frames.every(f => f.checkVisibility(apparent))).slice(0, 5);
  const boxes = [mainOf(roots.filter(r => !r.frames.length), document.body), ...framed.map(r => mainOf([r], r.root.body))];
  const contents = boxes.filter(Boolean).map(contentOf), [content = '', ...more] = contents.map(c => c.text);
  const frames = more.filter(Boolean).slice(0, 2).map(t => t.slice(0, 100));
  const parts = [...shown, content].filter(Boolean);
  const once = parts.filter((t, i) => ![...parts, ...frames].some((other, n) => n > i && other.slice(0, max).includes(t)));
  const own = once.join(' | ').slice(0, max - frames.reduce((sum, t) => sum + t.length + 3, 0)).trim();
  return { text: [own, ...frames].filter(Boolean).join(' | '), around: contents.flatMap(c => c.around).filter(Boolean).join(' | ').slice(0, max) };
}
