/**
 * Requests that no decent client sends, against the whole appliance: never a 500, never a hang, always an error body
 * (contract 1, Errors; decisions Q-ERR-01 to Q-ERR-08).
 */
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import type { Answer, RequestOptions } from '../support/gateway.js';
import { ApplianceTest, AT, BODY_BYTES_MAX } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
await test.admin.post(`${AT}/mode`, { kind: 'ControlModule', name: 'xv103', mode: 'Manual' });
const AREAS = `${AT}/areas`;
const ORDERS = '/api/v1/mes/sites/demo/work-orders?dispatch=immediate';
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const utf16 = Buffer.from('\ufeff{"name":"a"}', 'utf16le');

interface Odd {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly options?: RequestOptions;
  readonly status: number;
  readonly code?: string;
  readonly field?: string;
}

const raw = (text: string | Buffer, headers?: Record<string, string>): RequestOptions => ({ raw: text, ...(headers ? { headers } : {}) });
const type = (value: string): Record<string, string> => ({ 'Content-Type': value });

const PATHS: readonly Odd[] = [
  { what: 'a path that is not there', path: '/api/v1/nothing', status: 404, code: 'no_such_route' },
  { what: 'the root of the interface', path: '/api/v1', status: 404, code: 'no_such_route' },
  { what: 'a trailing slash', path: `${AREAS}/`, status: 404, code: 'no_such_route' },
  { what: 'a doubled slash', path: '/api/v1//sites', status: 404, code: 'no_such_route' },
  { what: 'capital letters', path: '/API/V1/sites', status: 404, code: 'no_such_route' },
  { what: 'dots that climb', path: '/api/v1/sites/../sites', status: 404, code: 'no_such_route' },
  { what: 'encoded dots that climb', path: '/assets/%2e%2e%2f%2e%2e%2fpackage.json', status: 404 },
  { what: 'an asset outside its folder', path: '/assets/../../package.json', status: 404 },
  { what: 'half an escape', path: `${AREAS}/%`, status: 400, code: 'invalid_path' },
  { what: 'an escape that is not hexadecimal', path: `${AREAS}/%zz`, status: 400, code: 'invalid_path' },
  { what: 'an escape that is not UTF-8', path: `${AREAS}/%ff%fe`, status: 400, code: 'invalid_path' },
  { what: 'an overlong UTF-8 slash', path: `${AREAS}/%c0%af`, status: 400, code: 'invalid_path' },
  { what: 'an encoded NUL', path: `${AREAS}/a%00b`, status: 404, code: 'not_found' },
  { what: 'an encoded slash in a name', path: `${AREAS}/a%2Fb`, status: 404, code: 'not_found' },
  { what: 'an encoded line break', path: `${AREAS}/a%0d%0aX-Evil:%201`, status: 404, code: 'not_found' },
  { what: 'a name decoded once only', path: `${AREAS}/synthes%2569s`, status: 404, code: 'not_found' },
  { what: 'a name of the prototype', path: `${AREAS}/__proto__`, status: 404, code: 'not_found' },
  { what: 'a constructor as name', path: `${AREAS}/constructor`, status: 404, code: 'not_found' },
  { what: 'a site of the prototype', path: '/api/v1/sites/__proto__/areas', status: 404, code: 'not_found' },
  { what: 'a family of the prototype', path: `${AT}/__proto__`, status: 404, code: 'no_such_route' },
  { what: 'a long name', path: `${AREAS}/${'a'.repeat(3000)}`, status: 404, code: 'not_found' },
  { what: 'many segments', path: `/api/v1${'/a'.repeat(1000)}`, status: 404, code: 'no_such_route' },
  { what: 'a long tag address', path: `${AT}/units/rx101/tags/${'a/'.repeat(500)}b`, status: 404, code: 'unknown_tag' },
  { what: 'a half-written cursor', path: `${AT}/audit?cursor=%ff`, status: 400, code: 'invalid_query' },
  { what: 'a limit that is no number', path: `${AT}/audit?limit=many`, status: 400, code: 'invalid_query' },
  { what: 'a limit beyond all', path: `${AT}/audit?limit=1e309`, status: 400, code: 'invalid_query' },
  { what: 'a time that is none', path: `${AT}/audit?from=yesterday`, status: 400, code: 'invalid_query' },
  { what: 'an audit name beyond all numbers', path: `${AT}/audit/audit-${'9'.repeat(40)}`, status: 404, code: 'not_found' },
  { what: 'a revision that is no number', path: `${AT}/recipes/master/resin-a/revisions/-1`, status: 404, code: 'not_found' },
  { what: 'an unknown form', path: '/api/v1/mes/sites/demo/work-orders?format=yaml', status: 400, code: 'invalid_query', field: 'format' },
];

const METHODS: readonly Odd[] = [
  { what: 'PATCH', method: 'PATCH', path: AREAS, options: raw('{}'), status: 405, code: 'method_not_allowed' },
  { what: 'TRACE', method: 'TRACE', path: AREAS, status: 405, code: 'method_not_allowed' },
  { what: 'a method nobody knows', method: 'PROPFIND', path: AREAS, status: 405, code: 'method_not_allowed' },
  { what: 'DELETE of a list', method: 'DELETE', path: AREAS, status: 405, code: 'method_not_allowed' },
  { what: 'PUT of a page', method: 'PUT', path: '/hmi', options: raw('{}'), status: 405, code: 'method_not_allowed' },
  { what: 'OPTIONS of nothing', method: 'OPTIONS', path: '/api/v1/nothing', status: 404, code: 'no_such_route' },
  { what: 'a WebSocket route without upgrade', path: '/api/v1/ws', status: 400, code: 'upgrade_required' },
];

const BODIES: readonly Odd[] = [
  { what: 'no body', status: 400, code: 'missing_field', field: 'name' },
  { what: 'an empty body with its type', options: raw(''), status: 400, code: 'missing_field', field: 'name' },
  { what: 'white space', options: raw('  \n '), status: 400, code: 'invalid_json' },
  { what: 'a byte order mark', options: raw('\ufeff{"name":"a"}'), status: 400, code: 'invalid_json' },
  { what: 'UTF-16', options: raw(utf16), status: 400, code: 'invalid_json' },
  { what: 'bytes that are not UTF-8', options: raw(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), status: 400, code: 'invalid_json' },
  { what: 'a NUL in the text', options: raw('{"name":"a\u0000b"}'), status: 400, code: 'invalid_json' },
  { what: 'an escaped NUL in a name', options: raw('{"name":"a\\u0000b"}'), status: 400, code: 'invalid_name' },
  { what: 'half a surrogate pair in a name', options: raw('{"name":"\\ud800"}'), status: 400, code: 'invalid_field', field: 'name' },
  { what: 'the other half', options: raw('{"name":"a","spec":[{"text":"b\\uDFFFc"}]}'), status: 400, code: 'invalid_field', field: 'spec[0].text' },
  { what: 'half a pair in the name of a member', options: raw('{"name":"a","\\udabc":1}'), status: 400, code: 'invalid_field', field: 'body' },
  { what: 'a whole pair', options: raw('{"name":"\\ud83d\\ude00"}'), status: 400, code: 'invalid_name' },
  {
    what: 'an order whose id is no text',
    path: ORDERS,
    options: raw('{"workOrderID":"W\\ud800","productDefinition":"resin-a"}'),
    status: 400,
    code: 'invalid_field',
    field: 'workOrderID',
  },
  { what: 'a name that is no label', options: raw('{"name":"Not A Label"}'), status: 400, code: 'invalid_name' },
  { what: 'a number as name', options: raw('{"name":1}'), status: 400, code: 'invalid_field', field: 'name' },
  { what: 'a member twice, of which the last one counts', options: raw('{"name":"a","name":"Not A Label"}'), status: 400, code: 'invalid_name', field: 'name' },
  { what: 'null as name', options: raw('{"name":null}'), status: 400, code: 'invalid_field', field: 'name' },
  { what: 'null', options: raw('null'), status: 400, code: 'invalid_field' },
  { what: 'a list', options: raw('[]'), status: 400, code: 'invalid_field' },
  { what: 'a text', options: raw('"name"'), status: 400, code: 'invalid_field' },
  { what: 'a number too large for a number', options: raw('{"name":1e999}'), status: 400, code: 'invalid_field' },
  { what: 'NaN', options: raw('{"name":NaN}'), status: 400, code: 'invalid_json' },
  { what: 'a comment', options: raw('{"name":"a"}// a'), status: 400, code: 'invalid_json' },
  { what: 'two documents', options: raw('{"name":"a"}{"name":"b"}'), status: 400, code: 'invalid_json' },
  { what: 'nesting beyond 64 levels', options: raw(nested(65)), status: 400, code: 'invalid_json' },
  { what: 'nesting of 64 levels', options: raw(nested(64)), status: 400, code: 'invalid_field' },
  { what: 'nesting as deep as the body allows', options: raw('['.repeat(BODY_BYTES_MAX - 1)), status: 400, code: 'invalid_json' },
  { what: 'a member __proto__', options: raw('{"name":"proto-a","__proto__":{"admin":true}}'), status: 400, code: 'unknown_field', field: '__proto__' },
  { what: 'a member constructor', options: raw('{"name":"proto-b","constructor":{}}'), status: 400, code: 'unknown_field', field: 'constructor' },
  { what: 'a member toString', options: raw('{"name":"proto-c","toString":1}'), status: 400, code: 'unknown_field', field: 'toString' },
  { what: 'another charset', options: raw('{"name":"a"}', type('application/json; charset=iso-8859-1')), status: 415, code: 'unsupported_media_type' },
  { what: 'a form', options: raw('name=a', type('application/x-www-form-urlencoded')), status: 415, code: 'unsupported_media_type' },
  { what: 'an empty media type', options: raw('{"name":"a"}', type('')), status: 415, code: 'unsupported_media_type' },
  { what: 'one byte too many', options: raw(`{"name":"a"}${' '.repeat(BODY_BYTES_MAX)}`), status: 413, code: 'payload_too_large' },
  { what: 'one byte too many in chunks', options: raw(`{"name":"a"}${' '.repeat(BODY_BYTES_MAX)}`, { 'Transfer-Encoding': 'chunked' }), status: 413, code: 'payload_too_large' },
  { what: 'a command to a kind of the prototype', path: `${AT}/command`, options: raw('{"kind":"__proto__","name":"a","command":"Start"}'), status: 400 },
  { what: 'a mode of the prototype', path: `${AT}/mode`, options: raw('{"kind":"constructor","name":"a","mode":"toString"}'), status: 400 },
  { what: 'a batch in a list', path: `${AT}/batches`, options: raw('[]'), status: 400, code: 'invalid_field' },
  { what: 'a manifest of the prototype', path: '/api/v1/apply', options: raw('{"apiVersion":"v1","kind":"__proto__","metadata":{"name":"a"},"spec":{}}'), status: 400 },
  { what: 'a manifest that is a list of lists', path: '/api/v1/apply', options: raw('[[[]]]'), status: 400 },
  { what: 'an endless expression', path: '/api/v1/validate/st', options: { body: { source: '('.repeat(8000), mode: 'expression' } }, status: 400 },
  { what: 'a tag value of another world', path: `${AT}/units/rx101/tags/xv103.cmd`, options: raw('{"value":{"a":[1]}}'), status: 400, code: 'invalid_value' },
];

function check(t: Test, odd: Odd, answer: Answer): void {
  const seen = `${odd.what}: ${answer.status} ${answer.text.slice(0, 160)}`;
  t.equal(answer.status, odd.status, seen);
  t.equal(answer.body?.status, answer.status, seen);
  t.type(answer.body?.error, 'string', seen);
  t.match(answer.headers['content-type'], /^application\/json/, seen);
  if (odd.code !== undefined) t.equal(answer.body?.code, odd.code, seen);
  if (odd.field !== undefined) t.equal(answer.body?.field, odd.field, seen);
}

for (const [title, list, method] of [
  ['Q-ERR-03: odd paths and queries', PATHS, 'GET'],
  ['Q-ERR-03: odd methods', METHODS, 'GET'],
  ['Q-ERR-04, Q-ERR-07, Q-ERR-08: odd bodies', BODIES, 'POST'],
] as const) {
  t.test(title, async (t) => {
    for (const odd of list) check(t, odd, await test.request(odd.method ?? method, odd.path ?? AREAS, { token: test.admin.token, ...odd.options }));
  });
}

t.test('Q-ERR-01: a member that comes twice counts once, the last one', async (t) => {
  const answer = await test.request('POST', AREAS, { token: test.admin.token, raw: '{"name":"first","name":"second"}' });
  t.match(answer, { status: 201, body: { name: 'second' } });
  t.equal((await test.admin.get(`${AREAS}/first`)).status, 404);
});

t.test('Q-ERR-04: nothing of this reached a prototype', async (t) => {
  t.notOk('admin' in {});
  t.equal((await test.admin.get(`${AREAS}/proto-a`)).status, 404);
});

t.test('Q-ERR-01: broken requests on the wire are answered or cut, and the gateway goes on', async (t) => {
  const lines = {
    'no HTTP': 'hello\r\n\r\n',
    'HTTP of the next century': 'GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n',
    'no host': 'GET /healthz HTTP/1.1\r\n\r\n',
    'a header without colon': 'GET /healthz HTTP/1.1\r\nHost: a\r\nBroken\r\n\r\n',
    'a very long path': `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    'very many headers': `GET /healthz HTTP/1.1\r\nHost: a\r\n${Array.from({ length: 500 }, (_, i) => `X-${i}: 1\r\n`).join('')}\r\n`,
    'two lengths': 'POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    'a negative length': 'POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    'two hosts': 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    'a length and chunks': 'POST /api/v1/apply HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  };
  for (const [what, text] of Object.entries(lines)) {
    const answer = await exchange(text);
    t.match(answer, /^$|^HTTP\/1\.1 (4\d\d|505|200)/, `${what}: ${answer.slice(0, 60)}`);
    t.notMatch(answer, /^HTTP\/1\.1 500/, what);
    if (what.startsWith('two ')) t.match(answer, /^HTTP\/1\.1 400 [^]*malformed_request/, what);
  }
  t.match(await test.request('GET', '/healthz'), { status: 200, body: { status: 'ok' } });
});

/** What comes back until the gateway is silent or cuts the line. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(test.port, '127.0.0.1', () => socket.write(text));
    const finish = (): void => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(5000, finish);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (/\r\n\r\n[^]/.test(received)) finish();
    });
    socket.on('error', finish);
    socket.on('close', finish);
  });
}
