import { EditorView, basicSetup } from 'codemirror';
import { javascript } from '@codemirror/lang-javascript';
import { say, root } from './say.js';

new EditorView({
  parent: root, doc: 'old text',
  extensions: [basicSetup, javascript(), EditorView.updateListener.of(u => u.docChanged && say('doc', JSON.stringify(u.state.doc.toString())))],
});
