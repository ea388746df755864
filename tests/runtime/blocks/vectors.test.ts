/**
 * Runs the timing vectors of `vectors/*.csv` through the generated code, as networks of one block.
 *
 * A file is a list of cases. `case` names it, `block` is the type with its parameters and constants, `scan` the interval
 * (100ms without). The header names the inputs, `>`, then the outputs; an input may carry a type (`IN1:INT`). Each row is
 * one scan; a last column `x5` runs the row five times and checks the last. `!Bad` behind a value is its quality; `-` is an
 * output nobody cares about. An input named `channel` is the I/O channel, an output named `channel` what is written to it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { builtinBlock } from '../../../runtime/blocks/index.js';
import { parseTimeText } from '../../../runtime/language/time-text.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { iecType } from '../../../runtime/vocabulary/data-types.js';
import type { ParamValue } from '../../../runtime/vocabulary/network.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY, QUALITY_WORDS, type Quality } from '../../../runtime/vocabulary/quality.js';
import { network, unitPlan } from '../network/plans.js';
import { at } from '../../support/at.js';

const FOLDER = fileURLToPath(new URL('./vectors/', import.meta.url));

interface Case {
  readonly name: string;
  readonly type: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly scanMs: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly rows: readonly { readonly inputs: readonly string[]; readonly outputs: readonly string[]; readonly times: number; readonly line: number }[];
}

function constant(text: string): ParamValue {
  if (text === 'TRUE' || text === 'FALSE') return text === 'TRUE';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text.replaceAll(';', ',');
}

function readCases(file: string): Case[] {
  const cases: { -readonly [K in keyof Case]: Case[K] }[] = [];
  let header = false;
  readFileSync(path.join(FOLDER, file), 'utf8')
    .split('\n')
    .forEach((raw, index) => {
      const line = raw.trim();
      if (line === '' || line.startsWith('#')) return;
      const cells = line.split(',').map((cell) => cell.trim());
      const current = cases.at(-1);
      if (cells[0] === 'case') {
        cases.push({ name: cells.slice(1).join(', '), type: '', params: {}, scanMs: 100, inputs: [], outputs: [], rows: [] });
        header = true;
      } else if (!current) throw new Error(`${file} line ${index + 1}: a case begins with the word case`);
      else if (cells[0] === 'block') {
        current.type = at(cells, 1);
        current.params = Object.fromEntries(cells.slice(2).map((cell) => [cell.slice(0, cell.indexOf('=')), constant(cell.slice(cell.indexOf('=') + 1))]));
      } else if (cells[0] === 'scan') current.scanMs = Number.parseFloat(at(cells, 1));
      else if (header) {
        const at = cells.indexOf('>');
        current.inputs = cells.slice(0, at);
        current.outputs = cells.slice(at + 1);
        header = false;
      } else {
        const at = cells.indexOf('>');
        const times = /^x\d+$/.test(cells.at(-1) ?? '') ? Number((cells.pop() as string).slice(1)) : 1;
        current.rows = [...current.rows, { inputs: cells.slice(0, at), outputs: cells.slice(at + 1), times, line: index + 1 }];
      }
    });
  return cases;
}

/** One block whose inputs are channels of an image, so that values and qualities can be given. */
class Bench {
  readonly set: NetworkSet;
  readonly #io: ProcessImage;
  readonly #inputs: readonly string[];
  #nowMs = 1000;

  constructor(vector: Case) {
    const block = builtinBlock(vector.type);
    if (!block) throw new Error(`there is no block ${vector.type}`);
    this.#inputs = vector.inputs.map((cell) => at(cell.split(':'), 0));
    const ports = this.#inputs.filter((name) => name !== 'channel');
    const types = new Map(vector.inputs.map((cell) => cell.split(':') as [string, string | undefined]));
    const typeOf = (name: string): string => types.get(name) ?? iecType(block.inputs.find((port) => port.name === name)?.type ?? '') ?? 'REAL';
    const output = block.channel?.direction === 'output';
    const channels = [...this.#inputs.map((name) => ({ name, address: name, direction: 'input' as const, dataType: 'float' as const, hasReadback: false }))];
    if (output) channels.push({ name: 'out', address: 'out', direction: 'output' as never, dataType: 'float', hasReadback: false });
    this.#io = new ProcessImage(channels.length);
    Atomics.store(this.#io.header, IMAGE_HEADER.connection, CONNECTION.connected);
    this.set = new NetworkSet(
      unitPlan({
        scanIntervalMs: vector.scanMs,
        images: [{ module: 'io', buffer: this.#io.buffer, staleAfterMs: 0, channels }],
        tags: ports.map((name) => ({
          address: `t.${name}`,
          network: 't',
          name,
          type: 'REAL',
          writable: false,
          cyclic: true,
          binding: { kind: 'channel', image: 0, channel: this.#inputs.indexOf(name) },
        })),
        networks: [
          network({
            name: 'n',
            scanIntervalMs: vector.scanMs,
            blocks: [{ name: 'b', type: vector.type, params: vector.params }],
            variables: ports.map((name) => ({ name, dataType: typeOf(name), direction: 'input' })),
            variableBindings: ports.map((name) => ({ variable: name, blockRef: 'b', portRef: name })),
            inputs: ports.map((name, tag) => ({ variable: name, tag })),
            channels: block.channel ? [{ block: 'b', image: 0, channel: output ? channels.length - 1 : this.#inputs.indexOf('channel') }] : [],
          }),
        ],
      }),
      { texts: new TextTable(), clockMs: () => 0 },
    );
    const report = at(this.set.reports(), 0);
    if (report.state === 'Error') throw new Error(report.message);
  }

  scan(cells: readonly string[]): void {
    this.#nowMs += 100;
    this.#io.beginInputs();
    cells.forEach((cell, index) => {
      const [value, quality] = cell.split('!');
      this.#io.value[index] = value === 'TRUE' ? 1 : value === 'FALSE' ? 0 : Number(value);
      this.#io.quality[index] = QUALITY[(quality ?? 'Good') as Quality];
      this.#io.stamp(index, this.#nowMs, this.#nowMs);
    });
    this.#io.endInputs();
    this.set.latch(this.#nowMs);
    this.set.scan(1);
    this.set.drive(this.#nowMs);
    this.#io.outDone.set(this.#io.outSeq);
    this.#io.outStatus.fill(WRITE_STATUS.done);
  }

  output(name: string): { readonly value: Value; readonly quality: string } {
    if (name === 'channel') return { value: at(this.#io.out, this.#inputs.length), quality: at(QUALITY_WORDS, 0) };
    const port = this.set.inspect('n')?.blocks[0]?.outputs[name];
    if (!port) throw new Error(`there is no output ${name}`);
    const ms = typeof port.value === 'string' ? parseTimeText(port.value) : null;
    return ms === null ? port : { ...port, value: ms };
  }
}

function agrees(expected: string, seen: { readonly value: Value; readonly quality: string }): boolean {
  if (expected === '-') return true;
  const [value, quality = 'Good'] = expected.split('!');
  if (quality !== seen.quality) return false;
  if (value === '' || value === '-') return true;
  if (typeof seen.value === 'boolean') return (value === 'TRUE' || value === '1') === seen.value;
  if (typeof seen.value === 'number') return Math.abs(seen.value - Number(value)) <= 1e-9 * Math.max(1, Math.abs(seen.value));
  return seen.value === value;
}

for (const file of readdirSync(FOLDER)
  .filter((name) => name.endsWith('.csv'))
  .sort()) {
  t.test(`Decisions 5.2: the vectors of ${file} hold`, async (t) => {
    for (const vector of readCases(file)) {
      const bench = new Bench(vector);
      const wrong: string[] = [];
      for (const row of vector.rows) {
        for (let n = 0; n < row.times; n += 1) bench.scan(row.inputs);
        vector.outputs.forEach((name, n) => {
          const seen = bench.output(name);
          if (!agrees(at(row.outputs, n), seen)) wrong.push(`line ${row.line}: ${name} is ${seen.value}!${seen.quality}, not ${row.outputs[n]}`);
        });
      }
      t.strictSame(wrong, [], `${vector.type}: ${vector.name}`);
    }
  });
}
