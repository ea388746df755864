/**
 * The pieces of the image of the disk (image/, scripts/image) that can be told without a virtual machine: the partition table and who names its parts, the ports,
 * what its screen says, and what is kept over a new root. `npm run long image` builds and starts the whole.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';

interface Partition {
  readonly name: string;
  readonly sizeMiB: number;
  readonly type: string;
  readonly uuid: string;
}
interface Layout {
  readonly disk: string;
  readonly alignMiB: number;
  readonly partitions: readonly Partition[];
  readonly rootFilesystem: string;
}
interface Disk {
  LAYOUT: Layout;
  tableOf(layout?: Layout): string;
  placed(layout?: Layout): (Partition & { readonly startMiB: number })[];
  diskMiB(layout?: Layout): number;
}

const ROOT = process.cwd();
const OVERLAY = path.join(ROOT, 'image/root');
const disk = (await import(pathToFileURL(path.join(ROOT, 'scripts/image/disk.mjs')).href)) as Disk;
const file = (name: string): string => readFileSync(path.join(OVERLAY, name), 'utf8');
const names = readdirSync(OVERLAY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.relative(OVERLAY, path.join(entry.parentPath, entry.name)));
const uuidOf = (name: string): string => disk.LAYOUT.partitions.find((each) => each.name === name)?.uuid ?? '';

t.test('the partition table: places follow each other, the data is last so that it can grow, and sfdisk reads it', async (t) => {
  t.equal(
    disk.tableOf({
      disk: 'd',
      alignMiB: 1,
      rootFilesystem: '',
      partitions: [
        { name: 'a', sizeMiB: 2, type: 'T', uuid: 'u' },
        { name: 'b', sizeMiB: 3, type: 'S', uuid: 'v' },
      ],
    }),
    'label: gpt\nlabel-id: d\nunit: sectors\nstart=2048, size=4096, type=T, uuid=u, name="a"\nstart=6144, size=6144, type=S, uuid=v, name="b"\n',
  );
  t.equal(disk.placed().at(-1)?.name, 'lineside-data');
  t.equal(disk.diskMiB(), 1 + 64 + 1024 + 256 + 1);
  t.equal(new Set(disk.LAYOUT.partitions.map(({ uuid }) => uuid)).size, 3);
});

t.test('who names a partition means one of the table', async (t) => {
  const root = uuidOf('root');
  t.match(file('boot/grub/grub.cfg'), new RegExp(`root=PARTUUID=${root} .* ro `));
  t.match(file('etc/fstab'), new RegExp(`^PARTUUID=${root} +/ +ext4 +ro,`, 'm'), 'the root is mounted read-only');
  t.match(file('etc/fstab'), new RegExp(`^PARTUUID=${uuidOf('esp')} +/boot/efi +vfat +ro,.*nofail`, 'm'));
  t.match(file('usr/share/initramfs-tools/scripts/local-bottom/lineside-data'), `/dev/disk/by-partuuid/${uuidOf('lineside-data')}\n`);
  t.match(readFileSync(path.join(ROOT, 'image/esp.cfg'), 'utf8'), `--set=root ${disk.LAYOUT.rootFilesystem}\n`);
  const bytes = (name: string): string[] => [...file(`usr/lib/repart.d/${name}.conf`).matchAll(/^Size(?:Min|Max)Bytes=(.*)$/gm)].map(([, size = '']) => size);
  t.same(bytes('10-esp'), ['64M', '64M']);
  t.same(bytes('20-root'), ['1G', '1G'], 'only the data partition grows');
  t.same(bytes('30-data'), []);
});

t.test('ports: all is dropped that is not named, and SSH is not, until its service says so', async (t) => {
  const rules = file('etc/nftables.conf');
  const chain = (name: string): string => /\{\n([^}]*(?:\{[^}]*\}[^}]*)*)\}/.exec(rules.slice(rules.indexOf(`chain ${name} `)))?.[1] ?? '';
  t.match(chain('input'), /hook input priority filter; policy drop;/);
  t.match(chain('forward'), /policy drop;/);
  t.same(
    [...rules.matchAll(/tcp dport (\S+) accept/g)].map(([, ports]) => ports),
    ['@gateway', '@commissioned'],
  );
  t.match(rules, /set gateway \{[^}]*elements = \{ 8090 \}/);
  t.notMatch(/set commissioned \{[^}]*\}/.exec(rules)?.[0] ?? 'elements', /elements/, 'the set of SSH begins empty');
  const ssh = file('etc/systemd/system/ssh.service.d/lineside.conf');
  t.match(ssh, /^ConditionPathExists=\/boot\/efi\/lineside\/authorized_keys$/m);
  t.match(ssh, /^ExecStartPre=\/usr\/sbin\/nft add element inet box commissioned \{ 22 \}$/m);
  t.match(ssh, /^ExecStopPost=-\/usr\/sbin\/nft delete element inet box commissioned \{ 22 \}$/m);
  const daemon = file('etc/ssh/sshd_config.d/lineside.conf');
  for (const line of ['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'PermitRootLogin prohibit-password', 'AuthorizedKeysFile /boot/efi/lineside/authorized_keys'])
    t.match(daemon, new RegExp(`^${line}$`, 'm'));
});

t.test('what is kept over a new root: the data, the settings and the journal, each an absolute path', async (t) => {
  const kept = file('usr/lib/lineside-image/kept').trimEnd().split('\n');
  for (const folder of ['/var/lib/lineside', '/etc/lineside', '/var/log', '/var/lib/systemd']) t.ok(kept.includes(folder), folder);
  t.ok(kept.every((folder) => /^\/[\w./-]+[\w-]$/.test(folder)));
  t.notOk(
    kept.some((folder) => folder.startsWith('/usr') || folder === '/etc' || folder === '/var'),
    'programs are of the image',
  );
});

t.test('scripts are shell that can be read, and begin as programs do', async (t) => {
  const scripts = names.filter((name) => file(name).startsWith('#!/bin/sh\n'));
  t.same(scripts.sort(), [
    'usr/lib/lineside-image/host-key',
    'usr/lib/lineside-image/screen',
    'usr/share/initramfs-tools/hooks/lineside-data',
    'usr/share/initramfs-tools/scripts/local-bottom/lineside-data',
  ]);
  for (const name of scripts) t.equal(spawnSync('sh', ['-n', path.join(OVERLAY, name)]).status, 0, name);
});

interface Seen {
  readonly addresses?: string;
  readonly settings?: string;
  readonly code?: string;
  readonly commissioned?: boolean;
}

/** What the screen says on a machine with these addresses (as `ip -brief` has them) and files. */
function screen(t: Test, { addresses = '', settings = '', code, commissioned = false }: Seen): Record<string, string[]> {
  const made = mkdtempSync(path.join(tmpdir(), 'image-screen-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  const at = (name: string): string => path.join(made, name);
  for (const folder of ['data/keys', 'efi/lineside', 'bin']) mkdirSync(at(folder), { recursive: true });
  const program = (name: string, body: string): void => {
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${body}\n`);
    chmodSync(at(`bin/${name}`), 0o755);
  };
  writeFileSync(at('addresses'), addresses);
  program('ip', `cat ${at('addresses')}`);
  program('systemctl', 'echo "3 of 3 units are scanned"');
  program('hostname', 'echo lineside-0a1b2c3d');
  writeFileSync(at('build.json'), '{\n  "version": "1.2.3",\n  "commit": "abc"\n}\n');
  writeFileSync(at('settings.yaml'), settings);
  writeFileSync(at('data/keys/appliance.json'), JSON.stringify({ deviceId: '0123456789abcdef0123456789abcdef', head: {} }));
  if (code !== undefined) writeFileSync(at('data/commissioning-code'), `${code}\n`);
  if (commissioned) writeFileSync(at('efi/lineside/authorized_keys'), 'ssh-ed25519 AAAA\n');
  const env = { PATH: `${at('bin')}:/usr/bin:/bin`, DATA: at('data'), SETTINGS: at('settings.yaml'), BUILD: at('build.json'), EFI: at('efi') };
  const said = execFileSync('sh', [path.join(OVERLAY, 'usr/lib/lineside-image/screen'), '--print'], { env, encoding: 'utf8' });
  const [title = '', ...lines] = said.trimEnd().split('\n');
  const words: Record<string, string[]> = { title: [title] };
  for (const [, word = '', value = ''] of lines.map((line) => /^(\S.*?) {2,}(.*)$/.exec(line) ?? [])) if (word !== '') (words[word] ??= []).push(value);
  return words;
}

t.test('the screen: what it is, where it is reached, the code while there is one, the fingerprint', async (t) => {
  t.same(screen(t, { addresses: 'eth0   UP   192.168.1.20/24 \neth1   UP   10.0.0.5/8 metric 1024 \n', code: 'ABCD-EFGH-1234' }), {
    title: ['Lineside 1.2.3   lineside-0a1b2c3d'],
    console: ['http://192.168.1.20:8090/hmi', 'http://10.0.0.5:8090/hmi'],
    'commissioning code': ['ABCD-EFGH-1234   (makes the first administrator; there is none yet)'],
    fingerprint: ['0123 4567 89ab cdef 0123 4567 89ab cdef   (of the device key; deviceId of /api/v1/version)'],
    state: ['3 of 3 units are scanned'],
    ssh: ['off'],
  });
});

t.test('the screen without a code, without an address, with another port, TLS and SSH', async (t) => {
  const without = screen(t, { commissioned: true });
  t.notOk(without['commissioning code']);
  t.match(without.console?.[0], /^no address yet: is the network cable in/);
  t.same(without.ssh, ['commissioned']);
  const nested = screen(t, { addresses: 'eth0 UP 10.0.0.5/8\n', settings: '# httpPort: 1\ngateway:\n  httpPort: 8443\n  tls:\n    certFile: /etc/lineside/box.pem\n' });
  t.same(nested.console, ['https://10.0.0.5:8443/hmi']);
  for (const settings of ['gateway.tls.selfSigned: true\n', 'gateway:\n  tls: \n    selfSigned: true\n', 'gateway.tls.acme.directory: https://ca/\n'])
    t.same(screen(t, { addresses: 'eth0 UP 10.0.0.5/8\n', settings }).console, ['https://10.0.0.5:8090/hmi'], settings);
  const dotted = screen(t, { addresses: 'eth0 UP 10.0.0.5/8\n', settings: 'gateway.httpPort: 8443\n' });
  t.same(dotted.console, ['http://10.0.0.5:8443/hmi']);
  t.same(screen(t, { addresses: 'eth0 UP 10.0.0.5/8\n', settings: '# certFile: x\n#  httpPort: 1\n' }).console, ['http://10.0.0.5:8090/hmi'], 'a comment sets nothing');
});

t.test('the sizes that the image may have', async (t) => {
  const { BYTES_MAX } = (await import(pathToFileURL(path.join(ROOT, 'scripts/package/rules.mjs')).href)) as { BYTES_MAX: { readonly image: number } };
  t.equal(BYTES_MAX.image, 350e6);
  t.ok(names.reduce((sum, name) => sum + statSync(path.join(OVERLAY, name)).size, 0) < 100_000, 'what is laid over the Debian is words');
});
