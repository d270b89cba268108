import Sortable from 'sortablejs';
import { say, root } from './say.js';

root.innerHTML = '<ul id=list>' + ['one', 'two', 'three'].map(n => `<li id=${n} data-id=${n}>${n}</li>`).join('') + '</ul>';
const list = document.getElementById('list');
const sortable = Sortable.create(list, { forceFallback: true, onEnd: () => say('order', sortable.toArray()) });
