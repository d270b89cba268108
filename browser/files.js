// Files that a run hands in: which input they are for, and how they get there.
Object.assign(rote.inner, (() => {
  'use strict';
  const { inside, unable } = rote.inner;

  const isFileInput = e => e?.localName === 'input' && e.type === 'file';

  // fileInput is the input that files for e go to: e itself, that of the label that e
  // is or is in, or the only one that e holds. It is { e }, or { why } when it cannot
  // take them, final when it never will; null when a click has to show what takes
  // the files. A person sees its button or label, so it may be hidden.
  function fileInput(e, files) {
    const input = isFileInput(e) ? e : e.closest('label')?.control;
    if (isFileInput(input)) return judged(input, files);
    const held = [...inside(e, [])].map(n => n.e).filter(isFileInput);
    if (held.length > 1) return { why: `holds ${held.length} file inputs: name the one to hand files in to`, final: true };
    return held.length ? judged(held[0], files) : null;
  }

  function judged(input, files) {
    const never = refusal(input, files);
    if (never) return { why: never, final: true };
    const why = unable(input, false);
    return why ? { why } : { e: input };
  }

  // refusal is why an input would not let a person choose such files; null: it would.
  function refusal(input, files) {
    if (input.webkitdirectory) return 'takes a directory, which x-files cannot hand in';
    if (files.length > 1 && !input.multiple) return `takes one file, not ${files.length} (it is not multiple)`;
    const accepted = input.accept.split(',').map(a => a.trim().toLowerCase()).filter(a => a);
    const wrong = accepted.length ? files.find(f => !accepted.some(a => fits(f, a))) : null;
    return wrong ? `takes only ${input.accept.trim()}: ${wrong.name} (${wrong.type}) is none of these` : null;
  }

  // fits reports whether a file is one of an entry of accept: of an extension, a type
  // or a group of types.
  function fits({ name, type }, entry) {
    type = type.split(';')[0].trim().toLowerCase();
    if (entry.startsWith('.')) return name.toLowerCase().endsWith(entry);
    if (entry === '*/*' || entry === '*') return true;
    return entry.endsWith('/*') ? type.startsWith(entry.slice(0, -1)) : type === entry;
  }

  return { fileInput, refusal };
})());

Object.assign(globalThis.rote, (() => {
  'use strict';
  const { refusal, tell } = rote.inner;

  // carried are files as a page gets them: what a person drops or chooses.
  function carried(files) {
    const data = new DataTransfer();
    for (const { name, type, base64 } of files) {
      const text = atob(base64), bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      data.items.add(new File([bytes], name, { type }));
    }
    return data;
  }

  // setFiles chooses files in the input that was found last, or in one that a file
  // chooser was opened for, which need not be in the document. It says why it could
  // not: 'gone', or a refusal.
  async function setFiles(files, input) {
    if (!input && !globalThis.roteTarget?.isConnected) return 'gone';
    input ??= globalThis.roteTarget;
    const why = input.matches(':disabled') ? 'is disabled' : refusal(input, files);
    if (why) return why;
    input.files = carried(files).files;
    if (input.files.length !== files.length) return 'did not take the files';
    await tell(input);
    return '';
  }

  // dropFiles drops files onto what was clicked last, and reports whether the page
  // took them: as the browser would, only where it says that they can be dropped.
  function dropFiles(files) {
    const on = globalThis.roteDrop, r = on?.isConnected && on.getBoundingClientRect();
    if (!r) return false;
    const dataTransfer = carried(files), at = { clientX: r.left + r.width / 2, clientY: r.top + r.height / 2 };
    const taken = type => !on.dispatchEvent(new DragEvent(type, { ...at, dataTransfer, bubbles: true, cancelable: true, composed: true }));
    taken('dragenter');
    const open = taken('dragover');
    taken(open ? 'drop' : 'dragleave');
    return open;
  }

  return { setFiles, dropFiles };
})());
