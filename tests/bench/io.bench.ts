/**
 * Field devices: what a poll costs the processor, and whether many devices in one probe are asked in time. The device is a process of its own.
 *
 * Modbus TCP: processor time of a poll of 100 registers (request, answer, decoding, process image) beside that of a loop over a bare socket which sends the
 * same request and waits for as many bytes, one round after the other in one run; at most 3 times. Then 50 devices in one probe thread, each asked every
 * 100 ms for 20 s: late is a request that comes half a period after it was due, as the device sees it; at most 0.1 %. EtherNet/IP: io-ethernet-ip.ts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ImageSink, type ImagePoint } from '../../runtime/io/image-sink.js';
import { modbusDriver } from '../../runtime/io/modbus/driver.js';
import type { ProbeChannel, ProbeInbound, ProbeModule } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { ethernetIp } from './io-ethernet-ip.js';
import { least, tell, verdict } from './judge.js';

const REGISTERS = 100;
const POLLS = 4000;
const ROUNDS = 7;
const RATIO_MAX = 3;
const DEVICES = 50;
const PERIOD_MS = 100;
const WATCH_MS = 20_000;
const LATE_SHARE_MAX = 0.001;

interface Told {
  readonly port?: number;
  readonly polls?: number;
  readonly late?: number;
  readonly gapMsMax?: number;
}

// ---------------------------------------------------------------- the device, a process of its own

function serve(): void {
  let [polls, late, gapMsMax, isWatching] = [0, 0, 0, false];
  const server = net.createServer({ noDelay: true }, (socket) => {
    let lastMs = 0;
    socket.on('error', () => {});
    socket.on('data', (frame) => {
      const nowMs = performance.now();
      if (isWatching && lastMs > 0) {
        polls += 1;
        gapMsMax = Math.max(gapMsMax, nowMs - lastMs);
        if (nowMs - lastMs > 1.5 * PERIOD_MS) late += 1;
      }
      lastMs = nowMs;
      const count = frame.readUInt16BE(10);
      const answer = Buffer.alloc(9 + 2 * count, 1);
      frame.copy(answer, 0, 0, 8);
      answer.writeUInt16BE(3 + 2 * count, 4);
      answer[8] = 2 * count;
      socket.write(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }));
  process.on('message', (what) => {
    if (what === 'watch') isWatching = true;
    else process.send?.({ polls, late, gapMsMax });
  });
}

function heard(child: ChildProcess): Promise<Told> {
  return new Promise((resolve) => child.once('message', (told) => resolve(told as Told)));
}

// ---------------------------------------------------------------- a poll

const channel = (offset: number): ProbeChannel => ({
  name: `r${offset}`,
  address: `holding:${offset}`,
  direction: 'input',
  dataType: 'int',
  readbackAddress: '',
  pollIntervalMs: 0,
});
const CHANNELS = Array.from({ length: REGISTERS }, (_, offset) => channel(offset));

function moduleOf(name: string, port: number): ProbeModule {
  const options = { pollInterval: `${PERIOD_MS}ms`, timeout: '1s' };
  return { site: 'bench', module: name, protocol: 'modbus', address: `127.0.0.1:${port}`, options, channels: CHANNELS, image: new ProcessImage(CHANNELS.length).buffer };
}

async function microsecondsOf(poll: () => Promise<unknown>): Promise<number> {
  for (let warm = 0; warm < POLLS / 4; warm += 1) await poll();
  const before = process.cpuUsage();
  for (let count = 0; count < POLLS; count += 1) await poll();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / POLLS;
}

/** The least that a poll can be. */
async function bare(port: number): Promise<{ poll: () => Promise<void>; close: () => void }> {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  await new Promise((resolve) => socket.once('connect', resolve));
  const request = Buffer.from([0, 1, 0, 0, 0, 6, 1, 3, 0, 0, 0, REGISTERS]);
  const wanted = 9 + 2 * REGISTERS;
  let settle: () => void = () => {};
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes < wanted) return;
    bytes -= wanted;
    settle();
  });
  const poll = (): Promise<void> =>
    new Promise((resolve) => {
      settle = resolve;
      socket.write(request);
    });
  return { poll, close: () => socket.destroy() };
}

async function costOfPoll(port: number): Promise<void> {
  const raw = await bare(port);
  const module = moduleOf('one', port);
  const link = await modbusDriver.connect(module, systemClock);
  const points = CHANNELS.map(({ address, dataType }, place): ImagePoint => ({ address, dataType, channel: place, pollMs: PERIOD_MS, readback: false }));
  const images = new ImageSink(new ProcessImage(points.length, module.image), points.length, systemClock);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(await microsecondsOf(raw.poll));
    ours.push(
      await microsecondsOf(() =>
        link.read(
          points,
          images.of(points, () => {}),
        ),
      ),
    );
  }
  raw.close();
  await link.close();
  const ratio = least(ours) / least(theirs);
  console.log(
    `Modbus TCP, a poll of ${REGISTERS} registers: ${least(ours).toFixed(1)} us of the processor, a bare socket ${least(theirs).toFixed(1)} us, ${ratio.toFixed(2)} x: ${verdict(ratio <= RATIO_MAX)}`,
  );
  tell('Modbus TCP, CPU of a poll of 100 registers, x a bare socket', ratio);
}

// ---------------------------------------------------------------- many devices

async function manyDevices(port: number, device: ChildProcess): Promise<void> {
  const worker = new Worker(new URL('../../runtime/probe.js', import.meta.url), { workerData: { goAhead: false } });
  const modules = Array.from({ length: DEVICES }, (_, place) => moduleOf(`d${place}`, port));
  const plan = { probe: 'bench', revision: 1, timeScale: 1, modules, reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 };
  worker.postMessage({ type: 'plan', plan } satisfies ProbeInbound);
  await pause(3000);
  device.send('watch');
  await pause(WATCH_MS);
  device.send('report');
  const { polls = 0, late = 0, gapMsMax = 0 } = await heard(device);
  worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
  await new Promise((resolve) => worker.once('exit', resolve));
  const share = polls === 0 ? 1 : late / polls;
  const wanted = (DEVICES * WATCH_MS) / PERIOD_MS;
  console.log(
    `Modbus TCP, ${DEVICES} devices every ${PERIOD_MS} ms in one probe: ${polls} of ${wanted} polls, ${late} late (${(100 * share).toFixed(3)} %), longest gap ${gapMsMax.toFixed(0)} ms: ${verdict(share <= LATE_SHARE_MAX && polls >= wanted * (1 - LATE_SHARE_MAX))}`,
  );
  tell('Modbus TCP, 50 devices in one probe, late polls, %', 100 * share);
}

if (process.argv.includes('device')) serve();
else {
  const device = fork(fileURLToPath(import.meta.url), ['device']);
  const { port = 0 } = await heard(device);
  await costOfPoll(port);
  await manyDevices(port, device);
  device.kill();
  const { ratio, connectedMs, singleLatePercent, connectedLatePercent } = await ethernetIp();
  tell('EtherNet/IP, CPU of a poll of 1,000 tags, x a bare socket', ratio);
  tell('EtherNet/IP, CPU of a poll of 1,000 tags over a connection, ms', connectedMs);
  tell('EtherNet/IP, 1,000 tags every 100 ms by single messages, late polls, %', singleLatePercent);
  tell('EtherNet/IP, 1,000 tags every 100 ms over a connection, late polls, %', connectedLatePercent);
}
