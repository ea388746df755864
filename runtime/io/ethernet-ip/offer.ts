/** The tags of a controller as channels that one could configure: atomic ones, texts, members of structures, elements of arrays. */
import type { OfferedChannel } from '../device-answers.js';
import { parseTagAddress } from './address.js';
import { listSymbols, readTemplate, type Symbol, type Template, type TemplateMember, type Walk } from './browse.js';
import type { Device, Failure } from './device.js';
import { BITS_PER_WORD } from './tag.js';
import { cipTypeNamed, cipTypeOf, DWORD_CODE, LOGIX_STRING_HANDLE } from './types.js';

const OFFERED_MAX = 1000;
/** Of one array; the others are named in the description of the first. */
const ELEMENTS_MAX = 16;
const DEPTH_MAX = 8;
const HIDDEN = /^(ZZZZZZZZZZ|__)/;

export interface Offer {
  readonly symbols: readonly Symbol[];
  readonly offered: readonly OfferedChannel[];
  readonly isTruncated: boolean;
}

/** A structure, an atomic type or a text at an address. */
interface Held {
  readonly code: number;
  readonly template: number;
  readonly isWritable: boolean;
  readonly description: string;
}

function isText({ handle, members: [length, data, ...more] }: Template): boolean {
  if (handle === LOGIX_STRING_HANDLE) return true;
  return (
    more.length === 0 && length?.name === 'LEN' && length.code === cipTypeNamed('DINT')?.code && data?.name === 'DATA' && data.code === cipTypeNamed('SINT')?.code && data.count > 0
  );
}

/** The indices of the elements that are offered; one that is empty for what is no array. */
function indicesOf(dimensions: readonly number[]): string[] {
  let found: (readonly number[])[] = [[]];
  for (const size of dimensions) found = found.flatMap((before) => Array.from({ length: Math.min(size, ELEMENTS_MAX) }, (_, at) => [...before, at])).slice(0, ELEMENTS_MAX);
  return dimensions.length === 0 ? [''] : found.map((index) => `[${index.join(',')}]`);
}

const arrayText = (dimensions: readonly number[]): string => (dimensions.length === 0 ? '' : ` of an array [${dimensions.join(',')}]`);

class Offering {
  readonly offered: OfferedChannel[] = [];
  readonly #device: Device;
  readonly #isTimeLeft: () => boolean;
  readonly #isTaken: (address: string) => boolean;
  readonly #templates = new Map<number, Template | undefined>();
  isTruncated = false;
  failure: Failure | undefined;

  constructor(device: Device, isTimeLeft: () => boolean, isTaken: (address: string) => boolean) {
    this.#device = device;
    this.#isTimeLeft = isTimeLeft;
    this.#isTaken = isTaken;
  }

  get #isFull(): boolean {
    if (this.offered.length < OFFERED_MAX && this.#isTimeLeft()) return this.failure !== undefined;
    this.isTruncated = true;
    return true;
  }

  async #template(instance: number): Promise<Template | undefined> {
    if (this.#templates.has(instance)) return this.#templates.get(instance);
    const read = await readTemplate(this.#device, instance);
    if (!read.ok && read.reason !== 'refused') this.failure = read;
    const template = read.ok ? read.value : undefined;
    this.#templates.set(instance, template);
    return template;
  }

  async symbol({ program, name, code, template, dimensions, isWritable }: Symbol): Promise<void> {
    const base = program === '' ? name : `Program:${program}.${name}`;
    await this.#elements(base, { code, template, isWritable, description: '' }, dimensions, 0);
  }

  async #elements(base: string, held: Held, dimensions: readonly number[], depth: number): Promise<void> {
    const isOfBits = held.code === DWORD_CODE && dimensions.length === 1;
    const sizes = isOfBits ? [(dimensions[0] ?? 0) * BITS_PER_WORD] : dimensions;
    const code = isOfBits ? (cipTypeNamed('BOOL')?.code ?? 0) : held.code;
    for (const index of indicesOf(sizes)) {
      if (this.#isFull) return;
      await this.#value(`${base}${index}`, { ...held, code, description: `${held.description}${arrayText(sizes)}` }, depth);
    }
    if (sizes.reduce((product, size) => product * size, 1) > ELEMENTS_MAX) this.isTruncated = true;
  }

  async #value(base: string, held: Held, depth: number): Promise<void> {
    if (held.template === 0) {
      const type = cipTypeOf(held.code);
      if (type) this.#offer(cipTypeNamed(type.name) ? `${base}#${type.name}` : base, held, type.name);
      return;
    }
    const template = depth < DEPTH_MAX ? await this.#template(held.template) : undefined;
    if (!template) return;
    if (isText(template)) {
      this.#offer(`${base}#STRING`, held, template.name);
      return;
    }
    for (const member of template.members) if (!HIDDEN.test(member.name)) await this.#member(base, member, held, template.name, depth);
  }

  async #member(base: string, member: TemplateMember, held: Held, structure: string, depth: number): Promise<void> {
    const within = { code: member.code, template: member.template, isWritable: held.isWritable, description: ` in ${structure}` };
    await this.#elements(`${base}.${member.name}`, within, member.count > 0 ? [member.count] : [], depth + 1);
  }

  /** Only what the grammar of channels can name. */
  #offer(address: string, { isWritable, description }: Held, typeName: string): void {
    const parsed = parseTagAddress(address);
    if (!parsed.ok || this.#isTaken(parsed.value.text)) return;
    const dataType = parsed.value.dataType ?? cipTypeOf(cipTypeNamed(typeName)?.code ?? 0)?.dataType ?? 'int';
    this.offered.push({ address, dataType, isWritable, description: `${typeName}${description}` });
  }
}

/** What the device has beside what is taken; `failure`: it stopped answering. */
export async function offer(device: Device, isTimeLeft: () => boolean, isTaken: (tag: string) => boolean): Promise<Offer | Failure> {
  const walk: Walk = { isTimeLeft, isTruncated: false };
  const symbols = await listSymbols(device, walk);
  if (!symbols.ok) return symbols.reason === 'refused' ? { symbols: [], offered: [], isTruncated: false } : symbols;
  const offering = new Offering(device, isTimeLeft, isTaken);
  for (const symbol of symbols.value) await offering.symbol(symbol);
  return offering.failure ?? { symbols: symbols.value, offered: offering.offered, isTruncated: walk.isTruncated || offering.isTruncated };
}
