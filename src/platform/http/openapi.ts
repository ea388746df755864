/**
 * `GET /api/v1/openapi.json` from the route table (decisions Q-VER-01): OpenAPI 3.1, whose schemas are JSON Schema draft 2020-12.
 * Each operation tells its parameters, its answers by status, and the refusals that it gives beyond those of the pipeline.
 */
import type { GenericSchema } from 'valibot';
import { auditReason } from '../base/refusal.js';
import { Components, type JsonObject, jsonSchema } from './components.js';
import { parametersOf } from './parameters.js';
import { type CodesOfStatus, codesOf, GATEWAY_SETS, type ToldStatus } from './refusal-codes.js';
import type { ReplyStatus, RouteColumns } from './route.js';
import { domainOf } from './route-table.js';
import { YAML_MEDIA_TYPES } from './yaml-body.js';

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
}

const JSON_MEDIA = 'application/json';

const REFUSALS: Readonly<Record<ToldStatus, string>> = {
  400: 'The request is not as it must be; field names what is wrong',
  401: 'Nobody is signed in, or the token is not fresh enough',
  403: 'The caller may not do this',
  404: 'There is no such resource',
  406: 'The route does not offer this form',
  408: 'The body did not arrive in time',
  409: 'The state of the resource forbids it',
  412: 'The resource has changed since it was read',
  413: 'The body is too large',
  415: 'The body is of another media type',
  422: 'What is asked for is understood and not possible',
  429: 'Too many requests',
  500: 'A fault of the gateway itself',
  502: 'What the gateway asked did not answer as it must',
  503: 'Not now: the gateway is starting, or the storage refuses changes',
};

export function openApiDocument(rows: readonly RouteColumns[], info: OpenApiInfo): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas = new Components();
  const responses = new Map(Object.entries(GATEWAY_SETS).map(([set, { status }]) => [`Refused${set}`, refusal(status, { $ref: `#/components/schemas/Refused${set}` })]));
  const sorted = [...rows].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1));
  for (const row of sorted) {
    const path = row.path.replace(/\{(\w+)\.\.\.\}/g, '{$1}');
    const methods = (paths[path] ??= {});
    methods[row.method.toLowerCase()] = operation(row, schemas, responses);
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { ...info, description: 'Control-system gateway of one batch line. Every POST, PUT and DELETE needs the header X-DCS-Nonce.' },
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'ApiKey <key>, on the MES routes' },
      },
      responses: Object.fromEntries(responses),
      schemas: {
        Error: {
          type: 'object',
          required: ['error', 'status'],
          properties: { error: { type: 'string' }, status: { type: 'integer' }, code: { type: 'string' }, field: { type: 'string' }, ...ALL_ERRORS },
        },
        ...gatewaySchemas(),
        ...schemas.settle(),
      },
      parameters: {
        Nonce: {
          name: 'X-DCS-Nonce',
          in: 'header',
          required: true,
          schema: { type: 'string', minLength: 8, maxLength: 128 },
          description: 'Unique per request; a UUID is recommended',
        },
      },
    },
  };
}

/** Of a request of which all that is wrong is told (D-C-03). */
const ALL_ERRORS: JsonObject = {
  errors: {
    type: 'array',
    description: 'All that is wrong, in the order of the request; of an apply the first 1,000, and fewer where they are long',
    items: {
      type: 'object',
      required: ['error'],
      properties: {
        index: { type: 'integer', description: 'of the manifest in the request' },
        kind: { type: 'string' },
        name: { type: 'string' },
        status: { type: 'integer' },
        code: { type: 'string' },
        error: { type: 'string' },
        field: { type: 'string' },
        diagnostics: { type: 'array', items: {} },
      },
    },
  },
  errorsTotal: { type: 'integer', description: 'How many there are, those of `errors` with them' },
};

/** Whether every JSON answer of the row has a schema. */
export function isDescribed(row: RouteColumns): boolean {
  if (row.stream !== undefined || row.action === '-' || (row.media !== undefined && row.formats === undefined)) return true;
  return [...repliesOf(row)].every(([status, reply]) => status === 204 || status === 302 || typeof reply !== 'string');
}

function operation(row: RouteColumns, schemas: Components, responses: Responses): JsonObject {
  const parameters: unknown[] = [...row.path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  if (row.method !== 'GET') parameters.push({ $ref: '#/components/parameters/Nonce' });
  parameters.push(...queryParameters(row));
  return {
    operationId: operationId(row),
    summary: row.summary ?? row.action,
    tags: [row.action === '-' ? 'pages' : domainOf(row.action)],
    'x-action': row.action,
    'x-tier': row.tier,
    ...(row.freshToken ? { 'x-fresh-token': row.freshToken === true ? true : 'conditional' } : {}),
    ...(isDescribed(row) ? {} : { 'x-undescribed': true }),
    security: securityOf(row),
    parameters,
    ...(row.body ? { requestBody: { content: bodyContent(row, schemas.of(row.body, 'input')) } } : {}),
    ...(row.bodyMedia ? { requestBody: { content: Object.fromEntries(row.bodyMedia.map((type) => [type, {}])) } } : {}),
    responses: { ...successes(row, schemas), ...refusals(row, responses) },
  };
}

/** YAML is described as what it stands for. */
function bodyContent({ yaml }: RouteColumns, schema: unknown): JsonObject {
  return { [JSON_MEDIA]: { schema }, ...(yaml ? { [YAML_MEDIA_TYPES[0]]: { schema } } : {}) };
}

function operationId(row: RouteColumns): string {
  return `${row.method.toLowerCase()}${row.path.replace(/[^A-Za-z0-9]+(\w)/g, (_: string, letter: string) => letter.toUpperCase()).replace(/[^A-Za-z0-9]/g, '')}`;
}

function queryParameters(row: RouteColumns): JsonObject[] {
  return Object.entries(parametersOf(row).entries).map(([name, schema]) => {
    const { wrapped } = schema as { readonly wrapped?: GenericSchema };
    const { description, ...value } = jsonSchema(wrapped ?? (schema as GenericSchema));
    return {
      name,
      in: 'query',
      ...(wrapped ? {} : { required: true }),
      ...(description ? { description } : {}),
      schema: value,
      ...(value.type === 'array' ? { style: 'form', explode: false } : {}), // commas; one by one is understood as well
    };
  });
}

function securityOf(row: RouteColumns): unknown[] {
  if (row.tier === 'none') return [];
  const keyed = row.path.startsWith('/api/v1/mes/sites/');
  if (row.apiKey === 'only') return [{ apiKey: [] }];
  return keyed ? [{ bearer: [] }, { apiKey: [] }] : [{ bearer: [] }];
}

/** A schema alone, a sentence alone or nothing is told of the status that the method and action stand for. */
function repliesOf({ reply, method, action }: RouteColumns): Map<ReplyStatus, GenericSchema | string> {
  if (reply !== undefined && typeof reply !== 'string' && !isSchema(reply)) {
    return new Map(Object.entries(reply).map(([status, each]) => [Number(status) as ReplyStatus, each as GenericSchema | string]));
  }
  if (method === 'DELETE' && reply === undefined) return new Map([[204, 'Done']]);
  return new Map([[action.endsWith(':create') ? 201 : 200, reply ?? 'OK']]);
}

function isSchema(reply: object): reply is GenericSchema {
  return 'kind' in reply && reply.kind === 'schema';
}

function successes(row: RouteColumns, schemas: Components): JsonObject {
  if (row.stream === 'websocket') return { '101': { description: 'WebSocket' } };
  if (row.stream === 'sse') return { '200': { description: 'Server-sent events', content: { 'text/event-stream': {} } } };
  return Object.fromEntries(
    [...repliesOf(row)].map(([status, reply]) => {
      if (status === 204 || status === 302) return [String(status), { description: typeof reply === 'string' && reply !== '' ? reply : 'Done' }];
      const content: Record<string, unknown> = {};
      if (typeof reply !== 'string') content[JSON_MEDIA] = { schema: schemas.of(reply, 'output') };
      else if (!row.media) content[JSON_MEDIA] = {};
      for (const type of row.media ?? []) content[type] = {};
      if (row.formats) content['application/xml'] = { schema: { type: 'string' } };
      return [String(status), { description: typeof reply === 'string' ? reply : status === 201 ? 'Created' : 'OK', content }];
    }),
  );
}

/** An error of one status with one of these codes; a nonce is refused without a code. */
function refused(status: ToldStatus, code: JsonObject | false, bare: boolean): JsonObject {
  const required = bare ? {} : { required: ['code'] };
  return { allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', ...required, properties: { status: { const: status }, code } }] };
}

function gatewaySchemas(): JsonObject {
  const bare = (set: string): boolean => set === '400Write' || set === '409';
  return Object.fromEntries(
    Object.entries(GATEWAY_SETS).flatMap(([set, { status, codes }]) => [
      ...(codes.length === 0 ? [] : [[`Code${set}`, { type: 'string', enum: codes }]]),
      [`Refused${set}`, refused(status, codes.length === 0 ? false : { $ref: `#/components/schemas/Code${set}` }, bare(set))],
    ]),
  );
}

function refusal(status: ToldStatus, schema: JsonObject): JsonObject {
  return { description: REFUSALS[status], content: { [JSON_MEDIA]: { schema } } };
}

/** Components by name, to which rows with the same refusals refer. */
type Responses = Map<string, JsonObject>;

/** More codes than these make no name that anybody would want to read. */
const CODES_IN_A_NAME_MAX = 3;

function refusals(row: RouteColumns, responses: Responses): JsonObject {
  return Object.fromEntries(
    codesOf(row).map((of) => {
      const { status, set = `${status}Only`, own } = of;
      if (own.length > CODES_IN_A_NAME_MAX) return [status, refusalOf(of)];
      const name = `Refused${set}${own.map(auditReason).join('')}`;
      if (!responses.has(name)) responses.set(name, refusalOf(of));
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function refusalOf({ status, set, own, bare }: CodesOfStatus): JsonObject {
  const codes = { type: 'string', enum: own };
  const hasCodes = set !== undefined && (GATEWAY_SETS[set]?.codes.length ?? 0) > 0;
  return refusal(status, refused(status, hasCodes ? { anyOf: [{ $ref: `#/components/schemas/Code${set}` }, codes] } : codes, bare));
}
