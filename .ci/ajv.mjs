// The published schema must also be good for another maker's validator: ajv
// compiles it in strict mode, takes every example routine and refuses a bad one.
import Ajv2020 from 'ajv/dist/2020.js';
import { readFileSync, readdirSync } from 'node:fs';

const schema = JSON.parse(readFileSync('schemas/testdata/routine.golden.json', 'utf8'));
const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true, allErrors: true });
const valid = ajv.compile(schema);
const dir = 'cmd/rote/practice/routines/';
let bad = 0;
for (const file of readdirSync(dir)) {
  if (!valid(JSON.parse(readFileSync(dir + file, 'utf8')))) { bad++; console.error(file, valid.errors); }
}
const wrong = { name: 'n', description: 'd', operations: [{ type: 'click', selecter: '#a' }] };
if (valid(wrong)) { bad++; console.error('a misspelt field was taken'); }
console.log(bad ? `${bad} disagreements` : 'ajv agrees');
process.exit(bad ? 1 : 0);
