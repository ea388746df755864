/** Recordings on a whole appliance, with a real worker: over the API to a file, and with `lineside replay` to values (ADR 0005). */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { AT, LOOP, startSmallPlant } from '../../domains/units/small-plant.js';
import { at } from '../../support/at.js';
import { COMMAND } from '../../support/command.js';

const RUNTIME = `${AT}/units/r1/runtime`;
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-replay-'));
const plant = await startSmallPlant();
t.teardown(async () => {
  await plant.end();
  rmSync(folder, { recursive: true, force: true });
});
const { api } = plant;

const record = (action: 'start' | 'stop', seconds?: number) => api.post(`${RUNTIME}/recording`, { action, ...(seconds !== undefined && { seconds }) });
const scans = async (): Promise<number> => (await api.get(`${RUNTIME}/status`)).body.scanCount;
const moreScans = async (count: number): Promise<void> => {
  const before = await scans();
  await plant.until('units/r1/runtime/status', (status) => status.scanCount > before + count);
};

/** The command as an engineer calls it. */
function lineside(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], (fault, out, said) => resolve({ code: typeof fault?.code === 'number' ? fault.code : 0, out, said }));
  });
}

async function download(t: Test, id: string): Promise<string> {
  const answer = await fetch(`${api.base}${RUNTIME}/recordings/${id}`);
  t.match(answer.headers.get('content-disposition'), /^attachment; filename="r1-.*\.lsrec"$/);
  t.equal(answer.headers.get('content-type'), 'application/octet-stream');
  const file = path.join(folder, `${id}.lsrec`);
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  return file;
}

let file = '';

t.test('ADR 0005: a recording is started and stopped over the API, audited, listed and handed out', async (t) => {
  await plant.did(api.post('/api/v1/controlmoduletemplates', LOOP));
  await plant.did(api.post(`${AT}/controlmodules`, { name: 'tic1', parentName: 'r1', templateRef: 'loop', tags: [{ name: 'pv', channel: 'io-1:tt' }] }));
  await plant.until('units/r1/tags/tic1.pv', (tag) => tag.quality === 'Good');
  await moreScans(20);
  t.match(await record('stop'), { status: 409, body: { code: 'not_recording' } });
  t.match(await record('start', 3601), { status: 400, body: { code: 'out_of_range' } });

  const started = await record('start', 60);
  t.match(started, { status: 201, body: { unit: 'r1', state: 'Recording', startedBy: String, endedAt: '', ending: '', firstScan: Number } });
  t.equal(started.headers.get('location'), `${RUNTIME}/recordings/${started.body.id}`);
  t.match(await record('start'), { status: 409, body: { code: 'recording_active' } });
  t.match(await api.get(`${RUNTIME}/recordings/${started.body.id}`), { status: 409, body: { code: 'recording_active' } });
  t.match((await api.get(`${RUNTIME}/recordings`)).body, { items: [{ id: started.body.id, state: 'Recording' }] });

  await moreScans(15);
  await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'tic1', mode: 'Manual' }));
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.divisor', value: 4 }));
  await moreScans(15);
  // A hot swap, and a text that the worker has not seen before.
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.word', value: '41' }));
  const blocks = LOOP.blocks.map((block) => (block.name === 'gain' ? { ...block, params: { IN2: 3 } } : block));
  await plant.did(api.put('/api/v1/controlmoduletemplates/loop', { ...LOOP, blocks }));
  await plant.until('units/r1/tags/tic1.doubled', (tag) => tag.value === 126);
  await moreScans(15);

  const ended = await record('stop');
  t.match(ended, { status: 200, body: { id: started.body.id, state: 'Complete', ending: 'stopped', endedAt: /^20/, bytes: Number } });
  t.ok(ended.body.lastScan >= ended.body.firstScan + 45);
  t.match((await api.get(`${RUNTIME}/recordings`)).body, { items: [ended.body] });
  const audits = (await api.get(`${AT}/audit?limit=200`)).body.items.filter((entry: { details?: { recording?: string } }) => entry.details?.recording === started.body.id);
  t.same(audits.map(({ result, details }: { result: string; details: { command: string } }) => [result, details.command]).sort(), [
    ['Success', 'start'],
    ['Success', 'stop'],
  ]);
  file = await download(t, ended.body.id);
  t.equal(readFileSync(file).length, ended.body.bytes);
  t.match(await api.get(`${RUNTIME}/recordings/none`), { status: 404 });
  t.match(await api.get(`${AT}/units/none/runtime/recordings`), { status: 404 });
});

t.test('ADR 0005: lineside replay meets every checksum and prints any port over time', async (t) => {
  const csv = await lineside('replay', file, '--port', 'tic1.gain.OUT', 'tic1.ratio.IN2', 'tic1.conv.OUT', '--format', 'csv');
  t.equal(csv.code, 0, csv.said);
  t.match(csv.said, /^unit r1 of site north, from scan \d+, 20.*\n\d+ scans, identical in \d+ checksums and the state at the end\n$/);
  const [head, ...rows] = csv.out.trimEnd().split('\n');
  t.equal(head, 'scan,time,tic1.gain.OUT,tic1.gain.OUT quality,tic1.ratio.IN2,tic1.ratio.IN2 quality,tic1.conv.OUT,tic1.conv.OUT quality');
  const values = rows.map((row) => row.split(','));
  t.same(at(values, 0).slice(2), ['84', 'Good', '2.5', 'Good', '7', 'Good']);
  t.same(values.at(-1)?.slice(2), ['126', 'Good', '4', 'Good', '41', 'Good'], 'write, text and hot swap are in the replay');
  t.ok(rows.length < 12, 'a row where something changed');

  const from = Number(values.find((row) => row[4] === '4')?.[0]);
  const part = await lineside('replay', file, '--port', 'tic1.divisor', '--from', String(from - 1), '--to', String(from + 1), '--every-scan');
  const lines = part.out.trimEnd().split('\n');
  t.match(lines[0], /^ +scan {2}time +tic1\.divisor$/);
  t.same(
    lines.slice(1).map((line) => line.trim().split(/\s+/).slice(-1)[0]),
    ['2.5', '4', '4'],
    'a tag by its address, between two scans, with every scan',
  );
  const list = await lineside('replay', file, '--list');
  t.equal(list.code, 0);
  t.match(list.out, /^tic1\.ratio\.OUT\tREAL$/m);
  t.match((await lineside('replay', file, '--port', 'tic1.none.OUT')).said, /no port or tag tic1\.none\.OUT/);
});

t.test('ADR 0005: a damaged recording ends with exit code 1 and its scan, what is none with 2', async (t) => {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  const damaged = path.join(folder, 'damaged.lsrec');
  writeFileSync(damaged, bytes);
  const found = await lineside('replay', damaged);
  t.equal(found.code, 1);
  t.match(found.said, /lineside: it was recorded by lineside 1\.2\.3, Node .*; this is lineside /, 'the small plant names another version');
  t.match(found.said, /lineside: .*frame \d+ at byte \d+.* scans? \d+.* is damaged: its CRC differs/);
  t.equal((await lineside('replay', path.join(folder, 'nowhere'))).code, 2);
  t.equal((await lineside('replay', COMMAND)).code, 2);
  const pipe = path.join(folder, 'pipe.lsrec');
  execFileSync('mkfifo', [pipe]);
  t.match(await lineside('replay', pipe), { code: 2, said: /pipe\.lsrec is a pipe, and a recording has to stand there/ }, 'nobody writes to it');
  t.equal((await lineside('replay', file, '--from', 'yesterday')).code, 2);
});

t.test('ADR 0005: a recording ends by itself, one that its worker left behind still replays, the oldest goes', async (t) => {
  await plant.did(record('start', 1));
  const { items } = await plant.until('units/r1/runtime/recordings', (list) => list.items[0].state === 'Complete');
  t.match(items[0], { ending: 'duration' });
  const lastedMs = Date.parse(items[0].endedAt) - Date.parse(items[0].startedAt);
  t.ok(items[0].lastScan > items[0].firstScan && lastedMs >= 1000, `a second of scans: ${lastedMs} ms`);

  await plant.did(record('start'));
  await moreScans(80);
  await plant.did(api.post(`${RUNTIME}/restart`, { reason: 'asked for by the test' }));
  const { items: left } = await plant.until('units/r1/runtime/recordings', (list) => list.items[0].state === 'Interrupted');
  t.match(left[0], { ending: 'runtime-down' });
  const cut = await lineside('replay', await download(t, 'latest'));
  t.equal(cut.code, 0, cut.said);
  t.match(cut.said, /it was cut off/);

  await plant.until('units/r1/runtime/status', (status) => status.ready && status.scanCount > 5);
  for (let more = 0; more < 3; more += 1) {
    await plant.did(record('start'));
    await plant.did(record('stop'));
  }
  const { body } = await api.get(`${RUNTIME}/recordings`);
  t.equal(body.items.length, 4);
  t.notOk(
    body.items.some(({ id }: { id: string }) => id === items.at(-1).id),
    'the first one is gone',
  );
});
