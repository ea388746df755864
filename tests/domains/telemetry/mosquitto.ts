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

export class Mosquitto {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'lineside-mqtt-'));
  port = 0;
  #process: ChildProcess | undefined;

  /** @throws Error that names the missing package when mosquitto is not installed. */
  async start(): Promise<void> {
    this.port = await freePort();
    this.setPassword(ACCOUNT.password);
    const config = path.join(this.folder, 'mosquitto.conf');
    writeFileSync(config, [`listener ${this.port} 127.0.0.1`, 'allow_anonymous false', `password_file ${this.#passwords}`, 'persistence false', 'user root'].join('\n'));
    const broker = spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
    const failed = once(broker, 'error').then(([fault]) => {
      throw new Error(`the telemetry tests need the Debian package mosquitto: ${(fault as Error).message}`);
    });
    this.#process = broker;
    await Promise.race([failed, eventually('mosquitto listens', () => listens(this.port))]);
  }

  get #passwords(): string {
    return path.join(this.folder, 'passwords');
  }

  setPassword(password: string): void {
    execFileSync('mosquitto_passwd', ['-b', '-c', this.#passwords, ACCOUNT.username, password], { stdio: 'ignore' });
    this.#process?.kill('SIGHUP'); // read again
  }

  async stop(): Promise<void> {
    if (this.#process?.exitCode === null) {
      this.#process.kill();
      await once(this.#process, 'exit');
    }
    rmSync(this.folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const opened = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(() => false);
  socket.destroy();
  return opened;
}

/** The cable between box and broker. */
export class Line {
  readonly #server = net.createServer((socket) => this.#carry(socket));
  readonly #sockets = new Set<net.Socket>();
  readonly #broker: Mosquitto;
  #isCut = false;
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
    const far = net.connect(this.#broker.port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
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
  #watchers: (() => void)[] = [];

  private constructor(client: MqttClient) {
    this.#client = client;
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
    const client = await connectAsync(`mqtt://127.0.0.1:${broker.port}`, { ...ACCOUNT, protocolVersion: 5 });
    const subscriber = new Subscriber(client);
    await client.subscribeAsync('#', { qos: 1, rap: true });
    return subscriber;
  }

  json(topic: string): unknown {
    return JSON.parse(this.retained.get(topic) ?? 'null');
  }

  async until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      const watcher = (): void => {
        if (!holds()) return;
        this.#watchers = this.#watchers.filter((other) => other !== watcher);
        resolve();
      };
      this.#watchers.push(watcher);
    });
  }

  async close(): Promise<void> {
    await this.#client.endAsync(true);
  }
}
