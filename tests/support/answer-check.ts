/**
 * Holds the answers that a suite sees against the interface as openapi.json tells it. Every answer of the API is looked at, whoever
 * asked: its status is one that the operation tells, its body has that schema and nothing beside it, and what is refused has a code
 * that the operation tells for that status. A document is made, and a schema compiled, when the first answer needs it. `CHECK_REPLIES=0 npm test` leaves it out,
 * to measure what it costs; a suite whose rows answer something else on purpose tells no interface.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/platform/http/openapi.js';
import type { RouteColumns } from '../../src/platform/http/route.js';

export interface SeenAnswer {
  readonly method: string;
  /** With its query. */
  readonly target: string;
  readonly status: number;
  readonly mediaType: string;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;

interface Told {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Json }>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Told>>;
  readonly 'x-undescribed'?: boolean;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly responses: Readonly<Record<string, Told>> };
}

export const CHECKS = process.env.CHECK_REPLIES !== '0';

/** Most validators look at a few answers, so they are made fast rather than to be fast, and each schema has one. */
const AJV = { strict: false, validateFormats: false, validateSchema: false, meta: false, inlineRefs: false, code: { optimize: false } } as const;
const COMPONENT = '#/components/schemas/';
const ID = 'told:';

/** Validators of schemas that have the same names for the same parts: those of the product, or of the rows of one suite. */
class Validators {
  readonly #ajv = new Ajv2020(AJV);
  readonly #parts = new Map<string, string>();
  readonly #validators = new Map<string, ValidateFunction>();

  /** @returns whether the names mean here what they mean in the document; then they are known here. */
  accepts({ components }: Document): boolean {
    const parts = Object.entries(components.schemas).map(([name, json]) => ({ name, text: local(json) }));
    if (parts.some(({ name, text }) => (this.#parts.get(name) ?? text) !== text)) return false;
    for (const { name, text } of parts) {
      if (this.#parts.has(name)) continue;
      this.#parts.set(name, text);
      this.#ajv.addSchema(JSON.parse(text) as Json, ID + name);
    }
    return true;
  }

  of(schema: Json): ValidateFunction {
    const text = local(schema);
    const known = this.#validators.get(text);
    const { $ref } = schema;
    const made = known ?? (typeof $ref === 'string' ? this.#ajv.getSchema($ref.replace(COMPONENT, ID)) : undefined) ?? this.#ajv.compile(JSON.parse(text) as Json);
    this.#validators.set(text, made);
    return made;
  }
}

/** A part refers to another by its name alone, whatever document it stands in. */
function local(schema: Json): string {
  return JSON.stringify(schema).replaceAll(`"$ref":"${COMPONENT}`, `"$ref":"${ID}`);
}

const sets: Validators[] = [];

function validatorsFor(document: Document): Validators {
  const known = sets.find((set) => set.accepts(document));
  if (known) return known;
  const made = new Validators();
  made.accepts(document);
  sets.push(made);
  return made;
}

/** One row as openapi.json tells it; made of the row alone, so that a suite pays for those that it asks. */
class ToldRow {
  readonly #operation: Operation;
  readonly #refusals: Document['components']['responses'];
  readonly #validators: Validators;

  constructor(row: RouteColumns) {
    const document = openApiDocument([row], { title: 'Lineside', version: 'v1' }) as Pick<Document, keyof Document>;
    const operation = document.paths[row.path.replace(/\{(\w+)\.\.\.\}/g, '{$1}')]?.[row.method.toLowerCase()];
    if (!operation) throw new Error(`openapi.json does not tell ${row.method} ${row.path}`);
    this.#operation = operation;
    this.#refusals = document.components.responses;
    this.#validators = validatorsFor(document);
  }

  /** @returns what does not fit, as a sentence. */
  misfit({ status, mediaType, text }: SeenAnswer): string | undefined {
    const { responses } = this.#operation;
    if (status < 400 && this.#operation['x-undescribed']) return undefined;
    const response = responses[String(status)];
    if (!response) return `${status} is not told of it; it tells ${Object.keys(responses).join(', ')}`;
    if (text === '' || !/\bjson\b/.test(mediaType) || /ndjson/.test(mediaType)) return undefined;
    const { content } = (response.$ref === undefined ? response : this.#refusals[response.$ref.split('/').at(-1) as string]) ?? {};
    const schema = content?.['application/json']?.schema;
    if (!schema) return `${status} has a JSON body that is not told of`;
    const validate = this.#validators.of(schema);
    const body = JSON.parse(text) as Json;
    if (validate(body)) return undefined;
    const { code } = body;
    if (status >= 400 && hasForm(body)) return `${status} with the code ${String(code)} is not told of it`;
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`).join('; ');
  }
}

/** Of an error, whatever its code. */
function hasForm({ error, status, code }: Json): boolean {
  return typeof error === 'string' && typeof status === 'number' && (code === undefined || typeof code === 'string');
}

/** Rows are the same in every plant of a process. */
const told = new WeakMap<RouteColumns, ToldRow>();

function toldOf(row: RouteColumns): ToldRow {
  let found = told.get(row);
  if (!found) told.set(row, (found = new ToldRow(row)));
  return found;
}

/** The interface of a gateway; one that only ran before the first question has none. */
export class Interface {
  readonly #rows: readonly { readonly row: RouteColumns; readonly pattern: RegExp }[];

  constructor(rows: readonly RouteColumns[]) {
    const length = ({ path }: RouteColumns): number => path.replace(/\{[\w.]+\}/g, '').length;
    this.#rows = [...rows]
      .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')) || length(b) - length(a))
      .map((row) => ({ row, pattern: patternOf(row.path) }));
  }

  /** @returns what does not fit, as a sentence. */
  misfit(answer: SeenAnswer): string | undefined {
    const { method, target, status } = answer;
    const pathname = target.split('?', 1)[0] as string;
    if (!pathname.startsWith('/api/') || status === 304) return undefined; // pages and probes
    const found = this.#rows.find(({ row, pattern }) => row.method === method && pattern.test(pathname));
    return found && toldOf(found.row).misfit(answer);
  }
}

/** Rows by port, until the first answer comes from there; their interface then. */
const interfaces = new Map<number, Interface | readonly RouteColumns[]>();
const misfits = new Set<string>();

/** Tells the interface of the gateway at a port. */
export function tellInterface(port: number, rows: readonly RouteColumns[]): void {
  if (CHECKS) interfaces.set(port, rows);
}

function interfaceAt(port: number): Interface | undefined {
  const known = interfaces.get(port);
  if (known === undefined || known instanceof Interface) return known;
  const made = new Interface(known);
  interfaces.set(port, made);
  return made;
}

/** What was answered at a port; what does not fit fails the suite when it ends. */
export function checkAnswer(port: number, answer: SeenAnswer): void {
  const found = CHECKS ? interfaceAt(port)?.misfit(answer) : undefined;
  if (found !== undefined) misfits.add(`${answer.method} ${answer.target.split('?', 1)[0]} ${answer.status}: ${found}`);
}

if (CHECKS) {
  process.on('exit', () => {
    if (misfits.size === 0) return;
    console.error(`answers that are not as openapi.json tells them:\n${[...misfits].sort().join('\n')}`);
    process.exitCode = 1;
  });
}

function patternOf(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (/^\{\w+(\.\.\.)?\}$/.test(segment) ? (segment.endsWith('...}') ? '.+' : '[^/]+') : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}
