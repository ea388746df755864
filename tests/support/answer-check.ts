/**
 * Holds the answers that a suite sees against the interface as openapi.json tells it: `LINESIDE_CHECK_REPLIES=1 npm test -- <words>`.
 * Every answer of the API is looked at, whoever asked: its status is one that the operation tells, its body has that schema
 * and nothing beside it, and what is refused has the form of an error. Rows without a schema yet (`x-undescribed`) are left out.
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

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Readonly<Record<string, { readonly schema?: Json }>> }>>;
  readonly 'x-undescribed'?: boolean;
}

interface Path {
  readonly pattern: RegExp;
  readonly path: string;
  readonly methods: Readonly<Record<string, Operation>>;
}

export const CHECKS = process.env.LINESIDE_CHECK_REPLIES === '1';

/** The interface of a gateway; one that only ran before the first question has none. */
export class Interface {
  readonly #paths: readonly Path[];
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#ajv.addSchema(document, 'openapi');
    const paths = Object.entries(document.paths as Readonly<Record<string, Path['methods']>>);
    this.#paths = paths
      .map(([path, methods]) => ({ path, methods, pattern: patternOf(path) }))
      .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')) || b.path.replace(/\{\w+\}/g, '').length - a.path.replace(/\{\w+\}/g, '').length);
  }

  /** @returns what does not fit, as a sentence. */
  misfit({ method, target, status, mediaType, text }: SeenAnswer): string | undefined {
    const pathname = target.split('?', 1)[0] as string;
    if (!pathname.startsWith('/api/')) return undefined; // pages and probes
    const found = this.#paths.find((each) => each.pattern.test(pathname) && each.methods[method.toLowerCase()] !== undefined);
    const operation = found?.methods[method.toLowerCase()];
    if (!found || !operation || status === 304) return undefined;
    if (status < 400 && operation['x-undescribed']) return undefined;
    const response = operation.responses[String(status)] ?? (status >= 400 ? operation.responses.default : undefined);
    if (!response) return `${status} is not told of it; it tells ${Object.keys(operation.responses).join(', ')}`;
    if (text === '' || !/\bjson\b/.test(mediaType) || /ndjson/.test(mediaType)) return undefined;
    const at = response.$ref ?? `#/paths/${escaped(found.path)}/${method.toLowerCase()}/responses/${status}`;
    const validate = this.#validator(`${at}/content/application~1json/schema`);
    if (!validate) return `${status} has a JSON body that is not told of`;
    if (validate(JSON.parse(text))) return undefined;
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`).join('; ');
  }

  #validator(pointer: string): ValidateFunction | undefined {
    let known = this.#validators.get(pointer);
    if (!known) {
      known = this.#ajv.getSchema(`openapi${pointer}`);
      if (known) this.#validators.set(pointer, known);
    }
    return known;
  }
}

const interfaces = new Map<number, Interface>();
const misfits = new Set<string>();

/** Tells the interface of the gateway at a port. */
export function tellInterface(port: number, rows: readonly RouteColumns[]): void {
  if (CHECKS) interfaces.set(port, new Interface(openApiDocument(rows, { title: 'Lineside', version: 'v1' })));
}

/** What was answered at a port; what does not fit fails the suite when it ends. */
export function checkAnswer(port: number, answer: SeenAnswer): void {
  const found = CHECKS ? interfaces.get(port)?.misfit(answer) : undefined;
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
  const segments = path.split('/').map((segment) => (/^\{\w+\}$/.test(segment) ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}$`);
}

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
}
