// The pod of k3s/ by podman, with the container image of `npm run package`: what a test without a cluster can show of the manifests. It needs root, podman,
// runc, catatonit and containernetworking-plugins (Debian's), and kubectl for the kustomization. `npm run long pod` plays it.
// Podman knows no stateful sets, so the pod is that of the set's template, with its claim; podman 4 asks a probe by a curl in the container, so probes are asked from here.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PACKAGE = path.join(root, 'artifacts/package');
const PORT = 28090;
const PATIENCE_MS = 120_000;
const READY_MS = 500;

const counts = { passed: 0, failed: 0 };
function check(what, is) {
  counts[is ? 'passed' : 'failed'] += 1;
  console.log(`${is ? 'ok' : 'not ok'}  ${what}`);
}

function ran(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1e8 });
  if (error) throw new Error(`${program} is needed: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
const podman = (...args) => ran('podman', ...args);

async function until(what, look) {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, READY_MS));
  }
  throw new Error(`gave up waiting until ${what}`);
}

const deviceOf = (container) => /"deviceId":"(\w+)"/.exec(podman('logs', container))?.[1];
const status = (name) =>
  fetch(`http://127.0.0.1:${PORT}${name}`).then(
    (response) => response.status,
    () => undefined,
  );

/** CAP_SYS_RESOURCE, the 24th; a sandbox may be without. */
function mayRaiseLimits() {
  const [, effective = '0'] = /^CapEff:\s+(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}

/**
 * runc, since crun wants the cgroups of one version, and machines have two. Podman asks it for limits of files and processes; where the machine does not
 * let them be raised it is asked for none, and the container has ours.
 */
function useRunc() {
  const runtime = path.join(folder, 'runc');
  const mayRaise = mayRaiseLimits();
  const edit = "const f = process.argv[1] + '/config.json'; const c = JSON.parse(fs.readFileSync(f)); delete c.process.rlimits; fs.writeFileSync(f, JSON.stringify(c))";
  const words = `bundle=; before=; for word in "$@"; do [ "$before" = --bundle ] && bundle=$word; before=$word; done; [ -z "$bundle" ] || '${process.execPath}' -e "${edit}" "$bundle"`;
  writeFileSync(runtime, `#!/bin/sh\n${mayRaise ? '' : words}\nexec /usr/sbin/runc "$@"\n`, { mode: 0o755 });
  process.env.CONTAINERS_CONF = path.join(folder, 'containers.conf');
  writeFileSync(process.env.CONTAINERS_CONF, `[engine]\nruntime = "runc"\n[engine.runtimes]\nrunc = ["${runtime}"]\n`);
  if (!mayRaise) console.log('this machine does not let limits be raised: the container keeps those there are');
}

/** What podman plays of what kustomize makes: the map, the claim and the pod. */
function played(image) {
  const manifests = parseAllDocuments(ran('kubectl', 'kustomize', path.join(root, 'k3s/single-node'))).map((document) => document.toJS());
  const set = manifests.find(({ kind }) => kind === 'StatefulSet');
  const { template, volumeClaimTemplates } = set.spec;
  const [claim] = volumeClaimTemplates;
  const name = `${claim.metadata.name}-${set.metadata.name}-0`;
  const { startupProbe, livenessProbe, readinessProbe, ...container } = template.spec.containers[0];
  check('the image that the overlay names is that of the package', container.image === image);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${set.metadata.name}-0`, labels: template.metadata.labels },
    spec: {
      ...template.spec,
      containers: [{ ...container, ports: [{ ...container.ports[0], hostPort: PORT }] }],
      volumes: [...template.spec.volumes, { name: claim.metadata.name, persistentVolumeClaim: { claimName: name } }],
    },
  };
  const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
  const map = manifests.find(({ kind }) => kind === 'ConfigMap');
  const volume = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: claim.spec };
  const stream = (...documents) => documents.map((document) => stringify(document)).join('---\n');
  return {
    text: stream(map, volume, pod),
    withoutClaim: stream(map, pod),
    settingsMap: map.metadata.name,
    claim: name,
    container: `${set.metadata.name}-0-${container.name}`,
    user: template.spec.securityContext.runAsUser,
    probes,
  };
}

const archive = existsSync(PACKAGE) ? readdirSync(PACKAGE).find((name) => name.endsWith('.oci.tar')) : undefined;
if (!archive) throw new Error('there is no container image in artifacts/package: npm run package makes it');
const image = /Loaded image: (\S+)/.exec(podman('load', '-i', path.join(PACKAGE, archive)))?.[1];
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-pod-'));
const file = path.join(folder, 'pod.yaml');
useRunc();
const { text, withoutClaim, settingsMap, claim, container, user, probes } = played(image);
writeFileSync(file, text);
const play = () => podman('play', 'kube', file);
const down = () => podman('play', 'kube', '--down', file);
try {
  play();
  await until('the pod is ready', async () => (await status('/readyz')) === 200);
  for (const probe of probes) check(`its probe ${probe} is 200`, (await status(probe)) === 200);
  const described = JSON.parse(podman('inspect', container))[0];
  check('its root is read-only', described.HostConfig.ReadonlyRootfs === true);
  const id = String(described.State.Pid);
  const of = (name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
  check(`it runs as ${user}`, of('Uid') === String(user));
  check('it has no capability', /^0+$/.test(of('CapEff') ?? '') && /^0+$/.test(of('CapBnd') ?? ''));
  check('it cannot get any', of('NoNewPrivs') === '1');
  check('its system calls are filtered', of('Seccomp') === '2');
  const words = readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0');
  const settings = words[words.indexOf('--config') + 1];
  check('its settings are those of the map', readFileSync(`/proc/${id}/root${settings}`, 'utf8') === readFileSync(path.join(root, 'k3s/base/config.yaml'), 'utf8'));
  check('its memory is limited', described.HostConfig.Memory === 1024 ** 3);
  const device = deviceOf(container);
  const begun = performance.now();
  podman('stop', '--time', '90', container);
  check(`it stops in order, in ${Math.round(performance.now() - begun)} ms`, JSON.parse(podman('inspect', container))[0].State.ExitCode === 0);
  down();
  writeFileSync(file, withoutClaim); // podman makes a volume once
  play();
  await until('the next pod is ready', async () => (await status('/readyz')) === 200);
  const next = deviceOf(container);
  check('what was stored is there for the next pod: it is the same appliance', next !== undefined && next === device);
  const second = spawnSync('podman', ['run', '--rm', '--volume', `${claim}:/var/lib/lineside`, '--env', 'LINESIDE_GATEWAY__HTTPPORT=0', image], {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  });
  check('a second container on the same volume refuses by the lock, exit code 2', second.status === 2 && /already uses the data directory/.test(second.stderr));
} catch (fault) {
  console.log(fault.message);
  counts.failed += 1;
} finally {
  spawnSync('podman', ['play', 'kube', '--down', file], { stdio: 'ignore' });
  for (const volume of [claim, settingsMap]) spawnSync('podman', ['volume', 'rm', volume], { stdio: 'ignore' });
  rmSync(folder, { recursive: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);
