// Runs in the helper's world, only after an operation has failed: returns what a person
// reads on the page. evidence.js calls it with the documents of the page, with a limit on
// the time (late), and with functions that hide secrets.
(page, max) => {
  'use strict';
  const { roots, inside, late, hide, longest } = page;
  const { documentIn, up } = rote.inner;
  const unread = 'script,style,noscript,template,textarea,select,[contenteditable]:not([contenteditable=false])';
  const alerts = '[role=alert],[role=alertdialog],dialog[open],[aria-live]:not([aria-live=off]),' +
    '[class*=error i],[class*=alert i],[class*=invalid i],[class*=warning i]';
  const apparent = { visibilityProperty: true, opacityProperty: true };
  const framing = 'nav,header,footer,aside,[role=navigation],[role=banner],[role=contentinfo]';

  // inner lists the nodes that are rendered in e: in its shadow root, frame or slot, or else its child nodes.
  function inner(e) {
    const assigned = e.localName === 'slot' ? e.assignedNodes() : [];
    return assigned.length ? assigned : (e.shadowRoot ?? documentIn(e)?.body ?? e).childNodes;
  }

  // spoken is the beginning of the visible text in box, including its frames and open shadow
  // roots, with a space between blocks, and without the values of fields.
  function spoken(box, max, skipped) {
    let text = '', block = null, judged = 0;
    const drawn = e => e.checkVisibility(apparent) || getComputedStyle(e).display === 'contents';
    const seen = e => !late(judged++, 2000) && !e.matches(skipped) && drawn(e);
    const lists = [{ nodes: inner(box), next: 0 }]; // the ancestors of the current node
    while (text.length < max && lists.length) {
      const list = lists.at(-1), n = list.nodes[list.next++];
      if (!n) lists.pop();
      else if (n.nodeType === Node.ELEMENT_NODE && seen(n)) lists.push({ nodes: inner(n), next: 0 });
      if (n?.nodeType !== Node.TEXT_NODE) continue;
      let of = n.parentElement ?? n.parentNode.host;
      while (of && of !== box && /^(inline|contents)$/.test(getComputedStyle(of).display)) of = up(of);
      text += (of === block ? '' : ' ') + n.data.slice(0, max).replace(/\s+/g, ' ');
      block = of;
    }
    return text;
  }

  // The text has at most max characters: first the alerts, then the main content, and other
  // text only if there is nothing else.
  const room = max + longest; // so that a secret at the end is complete when it is masked
  const shown = roots.flatMap(r => [...r.root.querySelectorAll(alerts)].slice(0, 20)).filter(e => e !== document.body && e.checkVisibility(apparent))
    .slice(0, 3).map(e => spoken(e, room, unread));
  const main = document.querySelector('main,[role=main]') ?? document.body;
  const content = main ? spoken(main, room, unread + ',' + framing).trim() || spoken(main, room, unread) : '';
  const framed = roots.filter(r => r.frames.length && r.root.body && !inside(r.frames[0], main) && r.frames.every(f => f.checkVisibility(apparent)))
    .slice(0, 5).map(r => spoken(r.root.body, room, unread));
  const parts = [...shown, content, ...framed].map(t => hide(t, t.length >= room).replace(/\s+/g, ' ').trim()).filter(Boolean);
  const first = parts.filter((t, i) => !parts.some((other, n) => n > i && other.slice(0, max).includes(t))); // each text once
  return first.join(' | ').slice(0, max);
}
