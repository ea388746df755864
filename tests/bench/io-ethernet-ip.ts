/**
 * EtherNet/IP in the bench of field devices: a controller of its own process with 1,000 tags of DINT, each a name of its own, so that nothing is read as a
 * range. What a poll of all of them costs the processor beside a bare socket that sends the same messages and waits for as many bytes; and how many polls
 * come late, as the controller sees it, when one probe asks for all of them every 100 ms: by messages of 504 bytes, as the options are where nobody
 * sets them, and over a connection.
 */
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ethernetIpDriver } from '../../runtime/io/ethernet-ip/driver.js';
import { type ImagePoint, ImageSink } from '../../runtime/io/image-sink.js';
import type { ProbeChannel, ProbeInbound, ProbeModule } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { EthernetIpPeer } from '../support/ethernet-ip-peer.js';
import { least, verdict } from './judge.js';

const TAGS = 1000;
const PERIOD_MS = 100;
const POLLS = 100;
const ROUNDS = 7;
const RATIO_MAX = 3;
const WATCH_MS = 20_000;
const LATE_SHARE_MAX = 0.001;
const HEADER_BYTES = 24;
const SESSION_AT = 4;

interface Figures {
  /** Processor of a poll by messages of 504 bytes, to that of a bare socket. */
  readonly ratio: number;
  /** Processor of a poll over a connection. */
  readonly connectedMs: number;
  readonly singleLatePercent: number;
  readonly connectedLatePercent: number;
}

const CHANNELS = Array.from({ length: TAGS }, (_, place): ProbeChannel => {
  const name = `Many_${String(place).padStart(4, '0')}`;
  return { name, address: `${name}#DINT`, direction: 'input', dataType: 'int', readbackAddress: '', pollIntervalMs: 0 };
});

function moduleOf(port: number, options: ProbeModule['options']): ProbeModule {
  const given = { pollInterval: `${PERIOD_MS}ms`, timeout: '1s', ...options };
  return { site: 'bench', module: 'plc', protocol: 'ethernetip', address: `127.0.0.1:${port}`, options: given, channels: CHANNELS, image: new ProcessImage(TAGS).buffer };
}

async function millisecondsOf(poll: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < POLLS; count += 1) await poll();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / POLLS;
}

/** The frames in what one side has sent. */
function framesIn(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const end = at + HEADER_BYTES + bytes.readUInt16LE(at + 2);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

/** What the driver sends for one poll, listened to on the way. */
async function messagesOf(port: number): Promise<Buffer[]> {
  const sent: Buffer[] = [];
  const tap = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ host: '127.0.0.1', port, noDelay: true });
    near.on('data', (chunk) => {
      sent.push(chunk);
      far.write(chunk);
    });
    far.on('data', (chunk) => near.write(chunk));
    near.on('close', () => far.destroy());
    near.on('error', () => {});
    far.on('error', () => {});
  });
  await new Promise<void>((resolve) => tap.listen(0, '127.0.0.1', resolve));
  const reader = await readerOf((tap.address() as net.AddressInfo).port, {});
  for (let poll = 0; poll < 3; poll += 1) {
    sent.length = 0;
    await reader.poll();
  }
  const frames = framesIn(Buffer.concat(sent)); // before the farewell
  await reader.close();
  await new Promise((resolve) => tap.close(resolve));
  return frames;
}

interface Reader {
  poll(): Promise<unknown>;
  close(): Promise<void>;
}

async function readerOf(port: number, options: ProbeModule['options']): Promise<Reader> {
  const module = moduleOf(port, options);
  const link = await ethernetIpDriver.connect(module, systemClock);
  const points = CHANNELS.map(({ address, dataType }, place): ImagePoint => ({ address, dataType, channel: place, pollMs: PERIOD_MS, readback: false }));
  const images = new ImageSink(new ProcessImage(points.length, module.image), points.length, systemClock);
  const poll = (): Promise<unknown> =>
    link.read(
      points,
      images.of(points, () => {}),
    );
  return { poll, close: () => link.close() };
}

/** The least that a poll can be: each message as it stands, and as many bytes as come back. */
async function bare(port: number, messages: readonly Buffer[]): Promise<Reader> {
  const socket = net.connect({ host: '127.0.0.1', port, noDelay: true });
  await new Promise((resolve) => socket.once('connect', resolve));
  let settle: (frame: Buffer) => void = () => {};
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (rest.length < HEADER_BYTES || rest.length < HEADER_BYTES + rest.readUInt16LE(2)) return;
    const frame = rest;
    rest = Buffer.alloc(0);
    settle(frame);
  });
  const ask = (message: Buffer): Promise<Buffer> =>
    new Promise((resolve) => {
      settle = resolve;
      socket.write(message);
    });
  const register = Buffer.alloc(HEADER_BYTES + 4);
  register.writeUInt16LE(0x65, 0);
  register.writeUInt16LE(4, 2);
  register[HEADER_BYTES] = 1;
  const session = (await ask(register)).readUInt32LE(SESSION_AT);
  for (const message of messages) message.writeUInt32LE(session, SESSION_AT);
  return {
    async poll() {
      for (const message of messages) await ask(message);
    },
    close: async () => void socket.destroy(),
  };
}

async function costOfPoll(port: number): Promise<Pick<Figures, 'ratio' | 'connectedMs'>> {
  const messages = await messagesOf(port);
  const raw = await bare(port, messages);
  const alone = await readerOf(port, {});
  const connected = await readerOf(port, { connected: true });
  const [theirs, ours, large]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(await millisecondsOf(raw.poll));
    ours.push(await millisecondsOf(alone.poll));
    large.push(await millisecondsOf(connected.poll));
  }
  for (const reader of [raw, alone, connected]) await reader.close();
  const ratio = least(ours) / least(theirs);
  console.log(
    `EtherNet/IP, a poll of ${TAGS} tags in ${messages.length} messages: ${least(ours).toFixed(2)} ms of the processor, a bare socket ${least(theirs).toFixed(2)} ms, ${ratio.toFixed(2)} x: ${verdict(ratio <= RATIO_MAX)}; over a connection ${least(large).toFixed(2)} ms`,
  );
  return { ratio, connectedMs: least(large) };
}

async function inTime(peer: EthernetIpPeer, options: ProbeModule['options'], way: string): Promise<number> {
  const worker = new Worker(new URL('../../runtime/probe.js', import.meta.url), { workerData: { goAhead: false } });
  const plan = { probe: 'bench', revision: 1, timeScale: 1, modules: [moduleOf(peer.port, options)], reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 };
  worker.postMessage({ type: 'plan', plan } satisfies ProbeInbound);
  await pause(3000);
  const before = (await peer.counts()).messages;
  await peer.watch('Many_0000', PERIOD_MS);
  const used = process.cpuUsage();
  await pause(WATCH_MS);
  const { user, system } = process.cpuUsage(used);
  const { polls, late, gapMsMax, messages } = await peer.counts();
  worker.postMessage({ type: 'stop' } satisfies ProbeInbound);
  await new Promise((resolve) => worker.once('exit', resolve));
  const share = polls === 0 ? 1 : late / polls;
  const wanted = WATCH_MS / PERIOD_MS;
  const core = (user + system) / 10 / WATCH_MS;
  console.log(
    `EtherNet/IP, ${TAGS} tags every ${PERIOD_MS} ms ${way}: ${polls} of ${wanted} polls of ${((messages - before) / Math.max(polls, 1)).toFixed(0)} messages, ${late} late (${(100 * share).toFixed(3)} %), longest gap ${gapMsMax.toFixed(0)} ms, ${core.toFixed(1)} % of a core: ${verdict(share <= LATE_SHARE_MAX && polls >= wanted * 0.99)}`,
  );
  return 100 * share;
}

export async function ethernetIp(): Promise<Figures> {
  const peer = await EthernetIpPeer.start({ many: TAGS, replyMax: 4000 });
  const cost = await costOfPoll(peer.port);
  const singleLatePercent = await inTime(peer, {}, 'by single messages');
  const connectedLatePercent = await inTime(peer, { connected: true }, 'over a connection');
  await peer.kill();
  return { ...cost, singleLatePercent, connectedLatePercent };
}
