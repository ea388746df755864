/** A real ACME server (Debian's pebble), with the name service of its test companion, which says of every name that it is this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../src/platform/http/listen.js';
import { eventually } from './api-client.js';
import { Authority } from './authority.js';

const HOST = '127.0.0.1';

export class Pebble {
  readonly directory: string;
  /** Authority of its own certificate. */
  readonly caFile: string;
  /** On which it asks for challenges of http-01. */
  readonly httpPort: number;
  readonly #management: string;
  readonly #children: readonly ChildProcess[];

  private constructor(parts: { directory: string; caFile: string; httpPort: number; management: string; children: readonly ChildProcess[] }) {
    this.directory = parts.directory;
    this.caFile = parts.caFile;
    this.httpPort = parts.httpPort;
    this.#management = parts.management;
    this.#children = parts.children;
  }

  /** @throws Error that names the missing package. */
  static async start(folder: string): Promise<Pebble> {
    const authority = new Authority(path.join(folder, 'pebble'), 'pebble');
    const { certificateFile, privateKeyFile } = authority.sign('localhost', 'urn:pebble').files;
    const [acme, management, http, tls, dns, companion] = await Promise.all(Array.from({ length: 6 }, () => freePort(HOST)));
    const config = path.join(folder, 'pebble.json');
    const pebble = {
      listenAddress: `${HOST}:${acme}`,
      managementListenAddress: `${HOST}:${management}`,
      certificate: certificateFile,
      privateKey: privateKeyFile,
      httpPort: http,
      tlsPort: tls,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
    };
    writeFileSync(config, JSON.stringify({ pebble }));
    const names = ['-dns01', `${HOST}:${dns}`, '-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', '', '-management', `${HOST}:${companion}`];
    const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0' };
    const children = [
      spawn('pebble-challtestsrv', names, { stdio: 'ignore', env }),
      spawn('pebble', ['-config', config, '-dnsserver', `${HOST}:${dns}`], { stdio: 'ignore', env }),
    ];
    process.once('exit', () => children.forEach((child) => child.kill()));
    const failed = Promise.race(children.map((child) => once(child, 'error'))).then(([fault]) => {
      throw new Error(`the tests of ACME need the Debian package pebble: ${(fault as Error).message}`);
    });
    const server = new Pebble({ directory: `https://${HOST}:${acme}/dir`, caFile: authority.file(), httpPort: http ?? 0, management: `http://${HOST}:${companion}`, children });
    const isUp = async (): Promise<boolean> => {
      const { connect } = await import('node:net');
      const answers = [acme, companion].map(
        (port) =>
          new Promise<boolean>((resolve) => {
            const socket = connect(port ?? 0, HOST, () => resolve(true));
            socket.once('error', () => resolve(false));
            socket.once('connect', () => socket.destroy());
          }),
      );
      return (await Promise.all(answers)).every(Boolean);
    };
    await Promise.race([failed, eventually('pebble listens', isUp)]);
    return server;
  }

  /** A program that sets and takes away TXT records of its name service, and writes down how it was called. */
  hook(folder: string): { readonly program: string; readonly calls: string } {
    const program = path.join(folder, 'dns-hook');
    const calls = path.join(folder, 'dns-hook.calls');
    const lines = [
      `#!${process.execPath}`,
      "const { appendFileSync } = require('node:fs');",
      'const [verb, name, value, ...more] = process.argv.slice(2);',
      `appendFileSync(${JSON.stringify(calls)}, JSON.stringify([verb, name, value, ...more]) + '\\n');`,
      `const asked = fetch(${JSON.stringify(this.#management)} + (verb === 'add' ? '/set-txt' : '/clear-txt'), { method: 'POST', body: JSON.stringify({ host: name + '.', value }) });`,
      'asked.then(({ ok }) => process.exit(ok ? 0 : 1));',
    ];
    writeFileSync(program, `${lines.join('\n')}\n`);
    chmodSync(program, 0o700);
    return { program, calls };
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill();
      await once(child, 'exit');
    }
  }
}
