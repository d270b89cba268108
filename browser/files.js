// File upload: finds the input for the files of a run and sets them.
Object.assign(rote.inner, (() => {
  'use strict';
  const { inside, unable } = rote.inner;

  const isFileInput = e => e?.localName === 'input' && e.type === 'file';

  // fileInput returns { e } with the file input for files on e: e itself, the input of the
  // label around e, or the only input inside e. It returns { why } if the input cannot
  // take the files now, also with final if it never can, and null if no input is found,
  // so that e must be clicked. The input may be hidden, because people see its button or
  // label.
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

  // refusal returns why a person could not choose these files in an input, or null.
  function refusal(input, files) {
    if (input.webkitdirectory) return 'takes a directory, which x-files cannot hand in';
    if (files.length > 1 && !input.multiple) return `takes one file, not ${files.length} (it is not multiple)`;
    const accepted = input.accept.split(',').map(a => a.trim().toLowerCase()).filter(a => a);
    const wrong = accepted.length ? files.find(f => !accepted.some(a => fits(f, a))) : null;
    return wrong ? `takes only ${input.accept.trim()}: ${wrong.name} (${wrong.type}) is none of these` : null;
  }

  // fits reports whether a file matches an entry of accept, which is an extension, a type
  // or a group of types such as image/*.
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

  // carried returns a DataTransfer with the files, as for a drop or a chosen file.
  function carried(files) {
    const data = new DataTransfer();
    for (const { name, type, base64 } of files) {
      const text = atob(base64), bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      data.items.add(new File([bytes], name, { type }));
    }
    return data;
  }

  // setFiles sets the files of the input that was found last, or of the given input of a
  // file chooser, which need not be in the document. It returns '' or why it could not:
  // 'gone', or the reason of the refusal.
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

  // dropFiles drops files onto the element that was clicked last and reports whether the
  // page accepted them. As in the browser, the page must accept the dragover first.
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
