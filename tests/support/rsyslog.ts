/** Debian's rsyslog as a receiver over TLS, in a folder of its own and for the time of a test: what most plants have. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { eventually } from './api-client.js';
import { freePort } from './appliance-process.js';
import type { Test } from 'tap';
import type { SignedPair } from './authority.js';

const PROGRAM = '/usr/sbin/rsyslogd';

export interface Rsyslog {
  readonly port: number;
  /** What it has written: whole messages, one a line. */
  text(): string;
  start(): Promise<void>;
  /** At once, as a machine that fails. */
  kill(): Promise<void>;
}

/** `clientCa`: only boxes with a certificate of it are heard. */
export async function rsyslog(t: Pick<Test, 'teardown'>, folder: string, { files }: Pick<SignedPair, 'files'>, ca: string, isMutual = false): Promise<Rsyslog> {
  const port = await freePort();
  const written = path.join(folder, 'received.log');
  const configuration = path.join(folder, 'rsyslog.conf');
  writeFileSync(
    configuration,
    `global(workDirectory="${folder}" maxMessageSize="64k" defaultNetstreamDriver="gtls"
  defaultNetstreamDriverCAFile="${ca}" defaultNetstreamDriverCertFile="${files.certificateFile}" defaultNetstreamDriverKeyFile="${files.privateKeyFile}")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="${isMutual ? 'x509/certvalid' : 'anon'}")
input(type="imtcp" port="${port}" address="127.0.0.1")
action(type="omfile" file="${written}" template="RSYSLOG_SyslogProtocol23Format")
`,
  );
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };
  t.teardown(kill);
  const start = async (): Promise<void> => {
    child = spawn(PROGRAM, ['-n', '-f', configuration, '-i', path.join(folder, 'rsyslog.pid')], { stdio: 'ignore' });
    await eventually('rsyslog answers', () => answers(port), undefined, 20);
  };
  return { port, start, kill, text: () => (existsSync(written) ? readFileSync(written, 'utf8') : '') };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
