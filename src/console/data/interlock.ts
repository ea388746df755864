/**
 * Why a module is interlocked: the conditions of its logic with the live values behind them. Conditions are the inputs of
 * an INTERLOCK block and the ILOCK input of device blocks; what feeds them is followed back through the connections of the
 * template to the tags of other modules (contract 3, Control-module template; decisions 5.5).
 */
import { readingText } from '../common/text.js';
import { get } from './api.js';
import { site } from './plant.js';
import type { CompositeLogic, LiveNetwork, ModuleInfo, TemplateLogic } from './types.js';

type LiveBlock = LiveNetwork['blocks'][number];
type PortValue = LiveBlock['inputs'][string];

export interface InterlockCondition {
  /** The interlock it belongs to: what a bypass names. */
  readonly block: string;
  /** What engineering calls it; empty when it has no text. */
  readonly text: string;
  readonly ok: boolean;
  /** What decides it, such as `li101.pv 3.2 ≥ 10`. */
  readonly because: readonly string[];
  /** The same with its parts, for words. */
  readonly reasons: readonly Reason[];
}

/** A tag that decides, or a comparison of it. */
export interface Reason {
  readonly text: string;
  readonly tag: string;
  /** Empty: the tag itself decides. */
  readonly sign: string;
  /** What it is compared with, in its unit; empty without a comparison. */
  readonly limit: string;
  /** TRUE permits; else TRUE blocks. */
  readonly permits: boolean;
}

export interface ModuleLogic {
  readonly template: TemplateLogic;
  readonly composites: ReadonlyMap<string, CompositeLogic>;
}

const COMPARISONS: Readonly<Record<string, string>> = { GE: '≥', GT: '>', LE: '≤', LT: '<', EQ: '=', NE: '≠' };
const TURNED: Readonly<Record<string, string>> = { '≥': '≤', '>': '<', '≤': '≥', '<': '>' };
const DEPTH_MAX = 6;

type Source = Omit<Reason, 'permits'>;

/** What does not change while the plant runs. */
export async function readLogic({ templateRef }: ModuleInfo): Promise<ModuleLogic> {
  const template = await get<TemplateLogic>(`/api/v1/controlmoduletemplates/${encodeURIComponent(templateRef)}`, { background: true });
  const known = await get<readonly CompositeLogic[]>('/api/v1/fbblocktypes', { background: true });
  return { template, composites: new Map(known.map((composite) => [composite.name, composite])) };
}

export function readNetwork({ unit, program }: ModuleInfo): Promise<LiveNetwork> {
  return get<LiveNetwork>(`/api/v1/sites/${encodeURIComponent(site.peek())}/units/${encodeURIComponent(unit)}/runtime/fbnetwork/${encodeURIComponent(program)}`, {
    background: true,
  });
}

/** @param unitOf unit of measure of a tag. */
export function conditionsOf(module: ModuleInfo, logic: ModuleLogic, network: LiveNetwork, unitOf: (address: string) => string): InterlockCondition[] {
  const walk = new Walk(module, logic, network, unitOf);
  return network.blocks.flatMap((block) => (block.type === 'INTERLOCK' ? walk.permissives(block) : 'ILOCK' in block.inputs ? walk.interlock(block) : []));
}

class Walk {
  readonly #module: ModuleInfo;
  readonly #logic: ModuleLogic;
  readonly #live: ReadonlyMap<string, LiveBlock>;
  readonly #unitOf: (address: string) => string;

  constructor(module: ModuleInfo, logic: ModuleLogic, network: LiveNetwork, unitOf: (address: string) => string) {
    this.#unitOf = unitOf;
    this.#module = module;
    this.#logic = logic;
    this.#live = new Map(network.blocks.map((block) => [block.name, block]));
  }

  /** TRUE permits. */
  permissives(block: LiveBlock): InterlockCondition[] {
    return Object.entries(block.inputs)
      .filter(([port]) => /^IN\d$/.test(port))
      .map(([port, { value, quality }]) => ({
        block: block.name,
        text: this.#text(block.name, `text${port.slice(2)}`),
        ok: value === true && quality !== 'Bad',
        ...this.#because(block.name, port, true),
      }))
      .filter(({ because }) => because.length > 0);
  }

  /** TRUE blocks. An input that nothing feeds is no interlock. */
  interlock(block: LiveBlock): InterlockCondition[] {
    const found = this.#because(block.name, 'ILOCK', false);
    const { value, quality } = block.inputs.ILOCK as PortValue;
    return found.because.length === 0 ? [] : [{ block: block.name, text: '', ok: value !== true && quality !== 'Bad', ...found }];
  }

  #because(block: string, port: string, permits: boolean): Pick<InterlockCondition, 'because' | 'reasons'> {
    const found = this.#sources(block, port, 0);
    return { because: found.map(({ text }) => text), reasons: found.map((source) => ({ ...source, permits })) };
  }

  #text(block: string, param: string): string {
    const override = this.#module.paramOverrides.find((each) => each.blockRef === block && each.param === param);
    const value = override?.value ?? this.#logic.template.blocks.find(({ name }) => name === block)?.params[param];
    return typeof value === 'string' ? value : '';
  }

  /** @param block may be inside a composite: `guard/lvl`. */
  #sources(block: string, port: string, depth: number): Source[] {
    if (depth > DEPTH_MAX) return [];
    const slash = block.lastIndexOf('/');
    return slash < 0 ? this.#sourcesInTemplate(block, port, depth) : this.#sourcesInComposite(block.slice(0, slash), block.slice(slash + 1), port, depth);
  }

  #sourcesInTemplate(block: string, port: string, depth: number): Source[] {
    const { dataConnections, variableBindings } = this.#logic.template;
    const variable = variableBindings.find((binding) => binding.blockRef === block && binding.portRef === port);
    if (variable) {
      const source = this.#module.inputBindings.find(({ name }) => name === variable.variable)?.source;
      return source === undefined ? [] : [{ text: source, tag: source, sign: '', limit: '' }];
    }
    return dataConnections.filter((link) => link.destBlock === block && link.destPort === port).flatMap((link) => this.#outputOf('', link.sourceBlock, link.sourcePort, depth + 1));
  }

  #sourcesInComposite(path: string, inner: string, port: string, depth: number): Source[] {
    const composite = this.#compositeAt(path);
    if (!composite) return [];
    const outside = composite.inputBindings.find((binding) => binding.blockRef === inner && binding.portRef === port);
    if (outside) return this.#sources(path, outside.port, depth + 1);
    return composite.connections
      .filter((link) => link.destBlock === inner && link.destPort === port)
      .flatMap((link) => this.#outputOf(`${path}/`, link.sourceBlock, link.sourcePort, depth + 1));
  }

  #compositeAt(path: string): CompositeLogic | undefined {
    const [first = '', ...rest] = path.split('/');
    let found = this.#logic.composites.get(this.#logic.template.blocks.find(({ name }) => name === first)?.type ?? '');
    for (const part of rest) found = this.#logic.composites.get(found?.blocks.find(({ name }) => name === part)?.type ?? '');
    return found;
  }

  /** What an output says: a comparison with its values, or what feeds the block. */
  #outputOf(prefix: string, block: string, port: string, depth: number): Source[] {
    const name = prefix + block;
    const live = this.#live.get(name);
    if (!live) {
      const inner = this.#compositeAt(name)?.outputBindings.find((binding) => binding.port === port);
      return inner ? this.#outputOf(`${name}/`, inner.blockRef, inner.portRef, depth + 1) : [];
    }
    const sign = COMPARISONS[live.type];
    if (sign !== undefined) {
      const [left] = this.#sources(name, 'IN1', depth + 1);
      const [right] = this.#sources(name, 'IN2', depth + 1);
      const unit = this.#unitOf(left?.tag ?? '') || this.#unitOf(right?.tag ?? '');
      const text = `${left?.text ?? ''} ${shown(live.inputs.IN1)} ${sign} ${right?.text ?? ''} ${shown(live.inputs.IN2)} ${unit}`.replace(/\s+/g, ' ').trim();
      // the tag first: a limit that is compared with a tag is turned round
      const [tag, signOfTag, limit] = left ? [left.tag, sign, live.inputs.IN2] : [right?.tag ?? '', TURNED[sign] ?? sign, live.inputs.IN1];
      return [{ text, tag, sign: signOfTag, limit: `${shown(limit)} ${unit}`.trim() }];
    }
    return Object.keys(live.inputs).flatMap((input) => this.#sources(name, input, depth + 1));
  }
}

function shown(port: PortValue | undefined): string {
  const value = port?.value;
  return typeof value === 'number' ? readingText(value) : String(value ?? '');
}
