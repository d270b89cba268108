import Quill from 'quill';
import 'quill/dist/quill.snow.css';
import { say, root } from './say.js';

root.innerHTML = '<div id=editor></div>';
const editor = new Quill('#editor', { theme: 'snow' });
editor.on('text-change', () => say('text', JSON.stringify(editor.getContents().ops)));
