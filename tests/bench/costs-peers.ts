/** Devices and brokers beside the box, whose own cost counts for nobody. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../support/api-client.js';
import { freePort } from '../support/appliance-process.js';

export interface Peer {
  readonly port: number;
  close(): void;
}

const HEADER_BYTES = 7;
const REQUEST_BYTES = 12;

/** Modbus TCP, as little of it as a poll needs (function 3): registers that move. */
export async function modbusDevice(): Promise<Peer> {
  const began = performance.now();
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let unread = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      for (; unread.length >= REQUEST_BYTES; unread = unread.subarray(REQUEST_BYTES)) socket.write(answerTo(unread, (performance.now() - began) / 1000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function answerTo(request: Buffer, seconds: number): Buffer {
  const count = request.readUInt16BE(10);
  const answer = Buffer.alloc(HEADER_BYTES + 2 + count * 2);
  request.copy(answer, 0, 0, HEADER_BYTES + 1);
  answer.writeUInt16BE(3 + count * 2, 4);
  answer.writeUInt8(count * 2, 8);
  for (let n = 0; n < count; n += 1) answer.writeUInt16BE(Math.round(12 + 7 * Math.sin((2 * Math.PI * seconds) / (20 + n))), 9 + n * 2);
  return answer;
}

/** Debian's mosquitto. @returns undefined where it is not installed. */
export async function broker(): Promise<Peer | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-broker-'));
  const port = await freePort();
  writeFileSync(path.join(folder, 'mosquitto.conf'), `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\n`);
  const child: ChildProcess = spawn('mosquitto', ['-c', path.join(folder, 'mosquitto.conf')], { stdio: 'ignore' });
  const isAbsent = new Promise<true>((resolve) => child.once('error', () => resolve(true)));
  const listens = eventually('mosquitto listens', () => isOpen(port), 10_000).then(() => false as const);
  if (await Promise.race([isAbsent, listens])) return undefined;
  process.once('exit', () => child.kill());
  return {
    port,
    close() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
