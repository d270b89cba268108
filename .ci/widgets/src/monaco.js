import * as monaco from 'monaco-editor/esm/vs/editor/editor.api.js';
import 'monaco-editor/esm/vs/basic-languages/javascript/javascript.contribution.js';
import 'monaco-editor/esm/vs/editor/editor.all.js';
import { say, root } from './say.js';

window.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob(['']))) };
root.style.cssText = 'height:300px;width:600px';
const editor = monaco.editor.create(root, { value: 'old text', language: 'javascript' });
editor.onDidChangeModelContent(() => say('doc', JSON.stringify(editor.getValue())));
