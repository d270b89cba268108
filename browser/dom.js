// Runs in an isolated world: the page shares its DOM with this code but none of its
// globals, so it can neither see nor manipulate what happens here.
globalThis.rote = (() => {
  'use strict';

  // --- finding: the document, open shadow roots and frames of the same origin

  // documentIn is the document in a frame; null for other elements, and for frames of
  // another origin, which have a helper of their own.
  const documentIn = e => /^(iframe|frame|object)$/.test(e.localName) ? e.contentDocument : null;

  // Elements with these names can have neither a shadow root nor a document in them. The
  // browser leaves them out faster than a script that has to look at each.
  const mayHold = ':not(html,head,meta,link,script,style,title,form,label,input,button,option,a,img,ul,li,table,tbody,tr,td,br,svg,path)';

  // all returns every match in tree order, each with the frames that contain it, and the
  // windows, documents and shadow roots that were searched.
  function all(selector, max) {
    const found = [];
    found.windows = [window];
    found.roots = [];
    if (window !== top && frameElement) return found; // the frame around it has searched here
    const visit = (root, frames) => {
      if (found.length >= max) return;
      found.roots.push(root);
      for (const e of root.querySelectorAll(selector)) {
        if (found.length < max) found.push({ e, frames });
      }
      for (const e of root.querySelectorAll(mayHold)) {
        if (e.shadowRoot) visit(e.shadowRoot, frames);
        const inner = documentIn(e);
        if (!inner) continue;
        found.windows.push(inner.defaultView);
        visit(inner, [...frames, e]);
      }
    };
    visit(document, []);
    return found;
  }

  // A form has its fields as properties, so that one named matches hides the form's own
  // method. Elements that may be forms are therefore asked with these functions.
  const { matches, getAttribute, closest, querySelector, querySelectorAll } = Element.prototype;
  const is = (e, selector) => matches.call(e, selector);
  const attribute = (e, name) => getAttribute.call(e, name);
  const around = (e, selector) => closest.call(e, selector);
  const first = (e, selector) => querySelector.call(e, selector);
  const every = (e, selector) => [...querySelectorAll.call(e, selector)];

  const describe = e => {
    const name = attribute(e, 'id'), id = name ? '#' + name : '';
    const cls = !id && typeof e.className === 'string' && e.className.trim() ? '.' + e.className.trim().split(/\s+/).slice(0, 2).join('.') : '';
    return e.localName + id + cls;
  };

  // Among parents only shadow roots are fragments. instanceof does not work here, because
  // the nodes of a frame are not instances of this window's classes.
  const up = n => n.assignedSlot || n.parentElement || (n.parentNode?.nodeType === Node.DOCUMENT_FRAGMENT_NODE ? n.parentNode.host : null);

  // flat lists the nodes that are rendered in e: those in its shadow root or slotted into
  // it, or else its child nodes.
  function flat(e) {
    const assigned = e.localName === 'slot' ? e.assignedNodes() : [];
    return assigned.length ? assigned : (e.shadowRoot ?? e).childNodes;
  }

  // tell dispatches the events of a value that was set, each in a task of its own, and
  // waits until they are handled: the guard may terminate a handler, and with it all code
  // on its stack. change does not leave the shadow tree, like that of a person's input.
  const tell = e => new Promise(done => {
    setTimeout(() => e.dispatchEvent(new Event('input', { bubbles: true, composed: true })));
    setTimeout(() => e.dispatchEvent(new Event('change', { bubbles: true })));
    setTimeout(done);
  });

  return { inner: { tell, all, documentIn, is, attribute, around, first, every, describe, up, flat } };
})();
