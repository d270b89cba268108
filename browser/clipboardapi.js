// navigator.clipboard, as far as it writes, for the run's own clipboard. It runs in
// the page's own world before the page's code. What a page may read stays the
// browser's decision, which is that it may not.
(() => {
  'use strict';
  const tellRun = globalThis.TELL;
  delete globalThis.TELL;
  if (!tellRun || !globalThis.Clipboard) return;
  const { prototype } = Clipboard, { clipboard, userActivation } = navigator, { stringify } = JSON, { apply } = Reflect;
  const { ClipboardItem, Proxy, DOMException, document } = globalThis, most = 1 << 20;

  const denied = (name, why) => new DOMException(`Failed to execute '${name}' on 'Clipboard': ${why}`, 'NotAllowedError');

  // allow throws where the browser lets no page write.
  function allow(name) {
    if (!document.featurePolicy.allowsFeature('clipboard-write')) {
      throw denied(name, 'The Clipboard API has been blocked because of a permissions policy applied to the current document.');
    }
    if (!document.hasFocus()) throw denied(name, 'Document is not focused.');
    if (!userActivation.hasBeenActive) throw denied(name, 'Write permission denied.');
  }

  const tell = json => tellRun(json.length > most ? 'null' : json);
  const item = (type, name, value) => `{"type":${stringify(type)},"${name}":${stringify(value)}}`;

  async function writeText(text) {
    text = '' + text;
    allow('writeText');
    tell('[' + item('text/plain', 'text', text) + ']');
  }

  async function write(items) {
    const [first, ...others] = items;
    allow('write');
    if (others.length) throw denied('write', 'Support for multiple ClipboardItems is not implemented.');
    let json = '';
    for (const type of first?.types ?? []) {
      if (!ClipboardItem.supports(type)) throw denied('write', `Type ${type} not supported on write.`);
      const value = await first.getType(type), blob = typeof value === 'string' ? new Blob([value]) : value;
      const image = type === 'image/png';
      const data = image ? new Uint8Array(await blob.arrayBuffer()).toBase64() : await blob.text();
      if (!type.startsWith('web ')) json += (json && ',') + item(type, image ? 'base64' : 'text', data);
    }
    tell('[' + json + ']');
  }

  // replace keeps the look of the browser's function, which still judges calls that
  // it would not take.
  const replace = (name, by) => {
    prototype[name] = new Proxy(prototype[name], {
      apply: (native, self, args) => self === clipboard && args.length ? by(args[0]) : apply(native, self, args),
    });
  };
  replace('writeText', writeText);
  replace('write', write);
})();
