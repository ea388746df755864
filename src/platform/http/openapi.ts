/** `GET /api/v1/openapi.json` from the route table (decisions Q-VER-01): OpenAPI 3.1, whose schemas are JSON Schema draft 2020-12. */
import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import type { RouteColumns } from './route.js';

interface JsonObject {
  readonly [member: string]: unknown;
}

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
}

export function openApiDocument(rows: readonly RouteColumns[], info: OpenApiInfo): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  const sorted = [...rows].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1));
  for (const row of sorted) {
    const path = row.path.replace(/\{(\w+)\.\.\.\}/g, '{$1}');
    paths[path] ??= {};
    paths[path][row.method.toLowerCase()] = operation(row);
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
      schemas: {
        Error: {
          type: 'object',
          required: ['error', 'status'],
          properties: { error: { type: 'string' }, status: { type: 'integer' }, code: { type: 'string' }, field: { type: 'string' } },
        },
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

function operation(row: RouteColumns): JsonObject {
  const mutating = row.method !== 'GET';
  const parameters: unknown[] = [...row.path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  if (mutating) parameters.push({ $ref: '#/components/parameters/Nonce' });
  if (row.formats) parameters.push({ name: 'format', in: 'query', schema: { enum: ['json', ...row.formats] } });
  return {
    operationId: operationId(row),
    summary: row.summary ?? row.action,
    tags: [row.action === '-' ? 'pages' : row.action.split(':')[0]],
    'x-action': row.action,
    'x-tier': row.tier,
    ...(row.freshToken ? { 'x-fresh-token': row.freshToken === true ? true : 'conditional' } : {}),
    security: securityOf(row),
    parameters,
    ...(row.body ? { requestBody: { content: { 'application/json': { schema: jsonSchema(row.body as GenericSchema) } } } } : {}),
    ...(row.bodyMedia ? { requestBody: { content: Object.fromEntries(row.bodyMedia.map((type) => [type, {}])) } } : {}),
    responses: { ...successOf(row), default: { description: 'Refusal', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } } },
  };
}

function operationId(row: RouteColumns): string {
  return `${row.method.toLowerCase()}${row.path.replace(/[^A-Za-z0-9]+(\w)/g, (_: string, letter: string) => letter.toUpperCase()).replace(/[^A-Za-z0-9]/g, '')}`;
}

function securityOf(row: RouteColumns): unknown[] {
  if (row.tier === 'none') return [];
  const keyed = row.path.startsWith('/api/v1/mes/sites/');
  if (row.apiKey === 'only') return [{ apiKey: [] }];
  return keyed ? [{ bearer: [] }, { apiKey: [] }] : [{ bearer: [] }];
}

function successOf(row: RouteColumns): JsonObject {
  if (row.stream === 'websocket') return { '101': { description: 'WebSocket' } };
  if (row.stream === 'sse') return { '200': { description: 'Server-sent events', content: { 'text/event-stream': {} } } };
  if (row.method === 'DELETE') return { '204': { description: 'Done' } };
  const description = typeof row.reply === 'string' ? row.reply : 'OK';
  const schema = row.reply && typeof row.reply !== 'string' ? jsonSchema(row.reply as GenericSchema, 'output') : {};
  const content: Record<string, unknown> = { 'application/json': { schema } };
  if (row.formats) content['application/xml'] = {};
  return { [row.action.endsWith(':create') ? '201' : '200']: { description, content } };
}

function jsonSchema(schema: GenericSchema, typeMode: 'input' | 'output' = 'input'): JsonObject {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, { errorMode: 'ignore', typeMode, target: 'draft-2020-12' }) as JsonObject;
  return rest;
}
