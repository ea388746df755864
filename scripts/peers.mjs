// `npm run peers`: the foreign programs that tests talk to, installed where that can be done (root and apt); it says what it does.
// A peer counts as present when it runs, however it came here. `npm test` and `npm run smoke` call this first.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `packages` are Debian's, each of them named: what a package only recommends is not installed (the pymodbus server wants
 * serial-asyncio even for TCP). `suites` are the files, by their text, that cannot run without the peer.
 */
const PEERS = [
  {
    name: 'the Modbus device of pymodbus',
    packages: ['python3-pymodbus', 'python3-serial-asyncio'],
    try: ['/usr/bin/python3', '-c', 'from pymodbus.server.async_io import ModbusTcpServer'],
    suites: /modbus-peer\.js|modbus-device\.js/,
  },
  { name: 'the MQTT broker mosquitto', packages: ['mosquitto'], try: ['/bin/sh', '-c', 'command -v /usr/sbin/mosquitto'], suites: /mosquitto\.js/ },
  {
    name: 'the syslog receiver rsyslog',
    packages: ['rsyslog', 'rsyslog-gnutls'],
    try: ['/bin/sh', '-c', '/usr/sbin/rsyslogd -v && ls /usr/lib/*/rsyslog/lmnsd_gtls.so'],
    suites: /support\/rsyslog\.js/,
  },
  { name: 'the ACME server pebble', packages: ['pebble'], try: ['/bin/sh', '-c', 'command -v pebble && command -v pebble-challtestsrv'], suites: /support\/pebble\.js/ },
  { name: 'the wall clock of libfaketime', packages: ['faketime'], try: ['/bin/sh', '-c', 'ls /usr/lib/*/faketime/libfaketimeMT.so.1'], suites: /libfaketime/ },
  { name: 'the encryption program age', packages: ['age'], try: ['/usr/bin/age', '--version'], suites: /\/usr\/bin\/age/ },
  { name: 'strace', packages: ['strace'], try: ['strace', '-V'], suites: /['"]strace['"]/ },
  { name: 'systemd-analyze', packages: ['systemd'], try: ['systemd-analyze', '--version'], suites: /systemd-analyze/ },
  {
    name: 'the browser Chromium',
    packages: ['chromium-headless-shell'],
    try: [process.env.CONSOLE_CHROMIUM ?? '/usr/bin/chromium-headless-shell', '--version'],
    suites: /browser\.js|person\.js/,
  },
  {
    name: 'the browser Firefox',
    packages: ['firefox-esr'],
    try: [process.env.CONSOLE_FIREFOX ?? '/usr/bin/firefox-esr', '--version'],
    long: true, // of `npm run long firefox` alone
  },
];

const runs = ([program, ...args]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
const commandFor = (peers) => `apt-get install --no-install-recommends ${peers.flatMap(({ packages }) => packages).join(' ')}`;

/** @returns the peers that are not there and could not be installed. `suites`: only what these built files need; `names`: only these; all of the gate without. */
export function installPeers({ suites, names, log = console.log } = {}) {
  const wantedBy = ({ long = false, ...peer }) => (names ? names.includes(peer.name) : !long && (suites === undefined || suites.some((suite) => needs(peer, suite))));
  const peers = PEERS.filter(wantedBy);
  const missing = () => peers.filter((peer) => !runs(peer.try));
  const wanted = missing();
  if (wanted.length === 0) return [];
  const mayInstall = process.getuid?.() === 0 && runs(['apt-get', '--version']);
  if (!mayInstall) return wanted;
  log(`installing ${wanted.map(({ name }) => name).join(', ')}: ${commandFor(wanted)}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-q'], { stdio: 'ignore', env });
  const packages = wanted.flatMap((peer) => peer.packages);
  const { status, stderr } = spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { stdio: ['ignore', 'ignore', 'pipe'], env, encoding: 'utf8' });
  if (status !== 0) log(stderr.trim().split('\n').slice(-3).join('\n'));
  return missing();
}

/** What to say of peers that are absent, with the one command that helps. */
export function sayAbsent(absent, what) {
  for (const peer of absent) console.log(`${process.env.CI ? 'FAILED' : 'skipped'}: ${what(peer)} without ${peer.name}; as root: ${commandFor([peer])}`);
}

/** Whether a built suite needs the peer: it imports what starts it. */
export function needs(peer, suite) {
  return peer.suites.test(readFileSync(suite, 'utf8'));
}

if (process.argv[1] === path.resolve(fileURLToPath(import.meta.url))) {
  const absent = installPeers();
  for (const peer of absent) console.log(`absent: ${peer.name}; as root: ${commandFor([peer])}`);
  if (absent.length === 0) console.log('every peer of the tests is here');
  process.exit(absent.length > 0 ? 1 : 0);
}
