// Bundles each page of src into OUT/NAME.js and writes OUT/NAME.html, which
// loads it. Usage: node build.mjs OUT, in a folder with node_modules.
import { build } from 'esbuild';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';

const out = process.argv[2];
mkdirSync(out, { recursive: true });
const files = readdirSync('src').filter(f => /\.jsx?$/.test(f) && f !== 'say.js');
await build({
  entryPoints: files.map(f => 'src/' + f),
  outdir: out, bundle: true, format: 'iife', minify: true, jsx: 'automatic', logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.ttf': 'dataurl', '.svg': 'dataurl', '.png': 'dataurl' },
});
const styled = new Set(readdirSync(out).filter(f => f.endsWith('.css')));
for (const f of files) {
  const { name } = parse(f);
  const style = styled.has(name + '.css') ? `<link rel=stylesheet href=${name}.css>` : '';
  writeFileSync(`${out}/${name}.html`, `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>${name}</title><link rel=icon href="data:,">${style}<div id=root></div><pre id=said></pre><script src=${name}.js></script>`);
}
// TinyMCE loads its parts by their addresses.
cpSync('node_modules/tinymce', out + '/tinymce', { recursive: true });
