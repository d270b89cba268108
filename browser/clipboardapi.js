// Replaces the methods of navigator.clipboard that write: they write to the clipboard of
// the run. This runs in the page's own world before the page's code. The methods that
// read stay those of the browser, which denies reading.
(() => {
  'use strict';
  const tellRun = globalThis.TELL;
  delete globalThis.TELL;
  if (!tellRun || !globalThis.Clipboard) return;
  const { prototype } = Clipboard, { clipboard, userActivation } = navigator, { stringify } = JSON, { apply } = Reflect;
  const { ClipboardItem, Proxy, DOMException, document } = globalThis, maxJSON = 1 << 20;

  const denied = (name, why) => new DOMException(`Failed to execute '${name}' on 'Clipboard': ${why}`, 'NotAllowedError');

  // allow throws if the browser would not let the page write.
  function allow(name) {
    if (!document.featurePolicy.allowsFeature('clipboard-write')) {
      throw denied(name, 'The Clipboard API has been blocked because of a permissions policy applied to the current document.');
    }
    if (!document.hasFocus()) throw denied(name, 'Document is not focused.');
    if (!userActivation.hasBeenActive) throw denied(name, 'Write permission denied.');
  }

  const tell = json => tellRun(json.length > maxJSON ? 'null' : json);
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

  // replace replaces a method by a proxy, which looks like the method. Calls with a wrong
  // receiver or without arguments still go to the browser's method, which throws.
  const replace = (name, by) => {
    prototype[name] = new Proxy(prototype[name], {
      apply: (native, self, args) => self === clipboard && args.length ? by(args[0]) : apply(native, self, args),
    });
  };
  replace('writeText', writeText);
  replace('write', write);
})();
