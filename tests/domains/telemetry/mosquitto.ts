/** A real broker (Debian's mosquitto), a line to it that can be cut, and a subscriber that sees what the broker holds. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { eventually } from '../../support/api-client.js';

export const ACCOUNT = { username: 'box', password: 'secret' } as const;
/** Who looks on has an account of his own: a broker that reads its passwords again throws out whom they no longer fit. */
const WATCHER = { username: 'watcher', password: 'sees all' } as const;
const WAIT_MS = 30_000;

export class Mosquitto {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'lineside-mqtt-'));
  /** A socket in a folder of its own: no other suite can be given its address. */
  readonly address = path.join(this.folder, 'broker.sock');
  readonly #passwords = path.join(this.folder, 'passwords');
  #process: ChildProcess | undefined;

  /** @throws Error that names the missing package when mosquitto is not installed. */
  async start(): Promise<void> {
    writeFileSync(this.#passwords, '', { mode: 0o600 });
    for (const { username, password } of [ACCOUNT, WATCHER]) this.addAccount(username, password);
    const config = path.join(this.folder, 'mosquitto.conf');
    const lines = [`listener 0 ${this.address}`, 'allow_anonymous false', `password_file ${this.#passwords}`, 'persistence false', 'max_queued_messages 0', 'user root'];
    writeFileSync(config, lines.join('\n'));
    const broker = spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
    const failed = once(broker, 'error').then(([fault]) => {
      throw new Error(`the telemetry tests need the Debian package mosquitto: ${(fault as Error).message}`);
    });
    this.#process = broker;
    process.once('exit', () => broker.kill()); // a test that runs out of time leaves nothing behind
    await Promise.race([failed, eventually('mosquitto listens', () => listens(this.address))]);
  }

  /** The file is written when this returns; a running broker then reads it again. */
  addAccount(username: string, password: string): void {
    execFileSync('mosquitto_passwd', ['-b', this.#passwords, username, password], { stdio: 'ignore' });
    this.#process?.kill('SIGHUP');
  }

  async stop(): Promise<void> {
    const broker = this.#process;
    if (broker && broker.exitCode === null && broker.signalCode === null) {
      broker.kill();
      await once(broker, 'exit');
    }
    rmSync(this.folder, { recursive: true });
  }
}

async function listens(address: string): Promise<boolean> {
  const socket = net.connect(address);
  const opened = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
  socket.destroy();
  return opened;
}

/** The cable between box and broker. */
export class Line {
  readonly #server = net.createServer({ allowHalfOpen: true }, (socket) => this.#carry(socket));
  readonly #sockets = new Set<net.Socket>();
  readonly #broker: Mosquitto;
  #isCut = false;
  #isMute = false;
  #isGreeting = false;
  #isStuck = false;
  /** Pieces that did not arrive. */
  swallowed = 0;
  /** Connections that were tried, those on a cut line included. */
  tries = 0;

  constructor(broker: Mosquitto) {
    this.#broker = broker;
  }

  async open(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as net.AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
    this.#isMute = false;
    this.#isGreeting = false;
    this.#isStuck = false;
  }

  /** Half-open: what is sent is taken, and never arrives. */
  mute(): void {
    this.#isMute = true;
  }

  /** New connections carry the first words of either side, connect and its acknowledgement, and no more. */
  greet(): void {
    this.mend();
    this.#isGreeting = true;
  }

  /** Nobody reads: the buffers fill. */
  stick(): void {
    this.#isStuck = true;
    for (const socket of this.#sockets) socket.pause();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #carry(near: net.Socket): void {
    this.tries += 1;
    if (this.#isCut) {
      near.destroy();
      return;
    }
    const far = net.connect({ path: this.#broker.address, allowHalfOpen: true });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      let said = 0;
      socket.on('data', (bytes) => {
        said += 1;
        if (this.#isMute || (this.#isGreeting && said > 1)) this.swallowed += 1;
        else other.write(bytes);
      });
      socket.on('end', () => {
        if (!this.#isMute) other.end(); // what was said before the end still arrives
      });
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (!socket.readableEnded) other.destroy();
      });
      if (this.#isStuck) socket.pause();
    }
  }
}

interface Arrived {
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
}

export class Subscriber {
  readonly arrived: Arrived[] = [];
  /** What a subscriber who comes now would be given. */
  readonly retained = new Map<string, string>();
  readonly #client: MqttClient;
  readonly #watchers = new Set<() => void>();

  private constructor(client: MqttClient) {
    this.#client = client;
    client.on('error', (fault) => this.arrived.push({ topic: `fault: ${fault.message}`, payload: '', qos: 0, retain: false }));
    client.on('message', (topic, bytes, { qos, retain }) => {
      const payload = bytes.toString();
      this.arrived.push({ topic, payload, qos, retain });
      if (payload === '') this.retained.delete(topic);
      else this.retained.set(topic, payload);
      for (const watcher of [...this.#watchers]) watcher();
    });
  }

  /** MQTT 5 with "retain as published": the flag is seen as it was sent. */
  static async open(broker: Mosquitto): Promise<Subscriber> {
    const client = await connectAsync(`mqtt+unix://${broker.address}`, { ...WATCHER, protocolVersion: 5 }, false);
    const subscriber = new Subscriber(client);
    await client.subscribeAsync('#', { qos: 1, rap: true });
    return subscriber;
  }

  json(topic: string): unknown {
    return JSON.parse(this.retained.get(topic) ?? 'null');
  }

  /** Waits for something that arrives. @throws Error that names it when it does not. */
  async until(what: string, holds: () => boolean): Promise<void> {
    let watcher: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    const held = new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`gave up after ${WAIT_MS} ms waiting until ${what}; last arrived: ${JSON.stringify(this.arrived.slice(-3))}`)), WAIT_MS);
      watcher = () => {
        try {
          if (holds()) resolve();
        } catch (fault) {
          reject(fault);
        }
      };
      this.#watchers.add(watcher);
      watcher(); // it may be there already
    });
    try {
      await held;
    } finally {
      clearTimeout(timer);
      this.#watchers.delete(watcher);
    }
  }

  async close(): Promise<void> {
    await this.#client.endAsync(true);
  }
}
