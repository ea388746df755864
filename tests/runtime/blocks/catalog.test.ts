/** The block library as a whole: every row names its source, and every port and parameter stands in a timing vector. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { BLOCK_TYPES } from '../../../runtime/blocks/index.js';
import { at } from '../../support/at.js';

const SOURCES = path.join(process.cwd(), 'runtime/blocks');
const VECTORS = path.join(process.cwd(), 'tests/runtime/blocks/vectors');

t.test('D-CAT-01: every block has a file of its own, whose doc comment names the clause it comes from', async (t) => {
  const families = readdirSync(SOURCES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = families.flatMap(({ name }) => readdirSync(path.join(SOURCES, name)).map((file) => path.join(name, file)));
  t.equal(files.length, BLOCK_TYPES.length);
  for (const file of files) {
    const [head = '', row = ''] = readFileSync(path.join(SOURCES, file), 'utf8').split(/^export const /m);
    const comment = head.slice(head.lastIndexOf('/**'));
    t.match(comment, /^\/\*\*[^]*(decisions 5\.\d|IEC 61131-3)/i, file);
    const type = BLOCK_TYPES.find(({ name }) => row.startsWith(`${name} = `));
    t.equal(type?.family, path.dirname(file), `${file} holds a block of its folder`);
  }
});

/** Names of ports and parameters in the vectors of each block. */
function namesInVectors(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of readdirSync(VECTORS)) {
    let names = new Set<string>();
    let header = false;
    for (const line of readFileSync(path.join(VECTORS, file), 'utf8').split('\n')) {
      const [word = '', ...cells] = line.split(',').map((cell) => cell.trim());
      if (line.trim() === '' || word.startsWith('#') || word === 'scan') continue;
      if (word === 'case') header = true;
      else if (word === 'block') {
        names = found.get(at(cells, 0)) ?? new Set();
        found.set(at(cells, 0), names);
        for (const cell of cells.slice(1)) names.add(cell.slice(0, cell.indexOf('=')));
      } else if (header) {
        for (const cell of [word, ...cells]) names.add(at(cell.split(':'), 0));
        header = false;
      }
    }
  }
  return found;
}

t.test('Decisions 5.2: every input, output and parameter of every block stands in a timing vector', async (t) => {
  const vectors = namesInVectors();
  for (const { name, inputs, outputs, params } of BLOCK_TYPES) {
    const wanted = [...inputs.filter((port) => !port.optional), ...outputs, ...params].map((entry) => entry.name);
    t.strictSame(
      wanted.filter((entry) => !vectors.get(name)?.has(entry)),
      [],
      name,
    );
  }
});
