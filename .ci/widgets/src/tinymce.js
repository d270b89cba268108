import { say, root } from './say.js';

root.innerHTML = '<textarea id=text></textarea>';
const script = document.createElement('script');
script.src = 'tinymce/tinymce.min.js';
script.onload = () => window.tinymce.init({
  selector: '#text', license_key: 'gpl', base_url: location.href.replace(/[^/]*$/, 'tinymce'), suffix: '.min', plugins: 'lists',
  setup: editor => editor.on('init input change ExecCommand', () => say('html', editor.getContent().replace(/\n/g, ''))),
});
document.head.append(script);
