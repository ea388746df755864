/** A disk that fills up in the middle of a large apply: nothing of it is there, whoever sent it is told, and the same apply is taken when there is room again. */
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { type ApiAnswer, eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';

const COUNT = 1000;
const manifest = (kind: string, name: string, spec: object = {}, namespace: object = { namespace: 'site-north' }) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...namespace },
  spec,
});
const SITE = manifest('Site', 'north', {}, {});
const plant = (description: string): readonly object[] => [
  ...Array.from({ length: COUNT - 1 }, (_, n) => manifest('Area', `area-${n}`, { description: `${description} ${'x'.repeat(400)}` })),
  manifest('ProcessCell', 'cell', { areaName: 'area-0' }),
];
/** Length that a file may have from then on, and when after the request: from nothing at all to most of the commit. */
const MOMENTS = [
  { bytes: 0, afterMs: 0 },
  { bytes: 65_536, afterMs: 0 },
  { bytes: 400_000, afterMs: 0 },
  { bytes: 100_000, afterMs: 60 },
] as const;

t.test('an apply of 1,000 while the disk fills up is taken whole or not at all', async (t) => {
  if (!canLimitFiles(t)) return;
  const box = await applianceProcess({ environment: { LINESIDE_AUTH__MODE: 'none', LINESIDE_LOG_LEVEL: 'error' }, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  const { api } = box;
  t.equal((await api.post('/api/v1/apply', SITE)).status, 200);
  const apply = (description: string): Promise<ApiAnswer> => api.post('/api/v1/apply', plant(description));
  const descriptions = async (): Promise<ReadonlySet<string>> => {
    const { body } = await api.get('/api/v1/export?kinds=Area');
    const found = (body as readonly { readonly spec: { readonly description: string } }[]).map(({ spec }) => spec.description.split(' ')[0] ?? '');
    return new Set(found.length === 0 ? [] : [...found, `${found.length} areas`]);
  };
  let refused = 0;
  let before: ReadonlySet<string> = new Set();
  for (const [n, { bytes, afterMs }] of MOMENTS.entries()) {
    const [word, what] = [`round-${n}`, `${bytes} bytes a file after ${afterMs} ms`];
    const answering = apply(word);
    await pause(afterMs);
    limitFiles(box.pid, bytes);
    const answer = await answering;
    const wanted = new Set([word, `${COUNT - 1} areas`]);
    refused += answer.status === 503 ? 1 : 0;
    if (answer.status !== 200) t.match(answer, { status: 503, body: { code: 'storage_unavailable', error: /the disk refused a commit: / } }, what);
    t.strictSame(await descriptions(), answer.status === 200 ? wanted : before, `${what}: nothing is half applied`);
    if (answer.status === 503) t.match(await apply('meanwhile'), { status: 503 }, 'also the next one is refused');
    limitFiles(box.pid, undefined);
    await eventually('writes are accepted again', async () => (await api.get('/readyz')).status === 200);
    t.match(await apply(word), { status: 200, body: { length: COUNT } }, 'the same apply is taken afterwards');
    t.strictSame(await descriptions(), wanted);
    before = wanted;
  }
  await box.end('SIGTERM');
  await box.start();
  t.strictSame(await descriptions(), before, 'as before after a restart');
  t.match(await api.post('/api/v1/system/integrity', {}), { body: { ok: true } }, 'and its records hold together');
  t.ok(refused >= 2, `${refused} of ${MOMENTS.length} were refused`);
});
