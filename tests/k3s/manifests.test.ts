/** The manifests of k3s/: what kustomize makes of them fits the schemas of Kubernetes, and holds what docs/operations/k3s.md says. */
import { spawnSync } from 'node:child_process';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1';
import { StorageClass } from 'kubernetes-models/storage.k8s.io/v1';
import { ConfigMap, Namespace, Service, ServiceAccount } from 'kubernetes-models/v1';
import t from 'tap';
import { readSettings } from '../../src/settings.js';
import { readUnit } from '../support/unit-file.js';
import { type Manifest, manifestsIn, resolve } from './resolve.js';

const MODELS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  ConfigMap,
  Namespace,
  NetworkPolicy,
  PriorityClass,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
};
const FOLDERS = ['k3s/base', 'k3s/single-node'];

type Container = Readonly<Record<string, never>> & {
  readonly securityContext: object;
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
  readonly startupProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
};
interface Set {
  readonly spec: {
    readonly replicas: number;
    readonly serviceName: string;
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: Readonly<Record<string, never>> & { readonly containers: readonly Container[]; readonly terminationGracePeriodSeconds: number };
    };
    readonly volumeClaimTemplates: readonly { readonly spec: object }[];
  };
}

const byName = (manifests: readonly Manifest[]): Manifest[] => [...manifests].sort((a, b) => (`${a.kind}/${a.metadata.name}` < `${b.kind}/${b.metadata.name}` ? -1 : 1));
const one = (kind: string, name = 'lineside'): never => {
  const found = resolve('k3s/single-node').find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found as never;
};

for (const folder of FOLDERS) {
  t.test(`k3s: every manifest of ${folder} fits its schema`, async (t) => {
    const manifests = resolve(folder);
    t.ok(manifests.length >= 7);
    for (const manifest of manifests) {
      const Model = MODELS[manifest.kind];
      if (!Model) throw new Error(`${manifest.kind} has no model here`);
      const model = new Model(manifest as never);
      t.match(model, { apiVersion: manifest.apiVersion, kind: manifest.kind }, 'of the version that the model is of');
      t.doesNotThrow(() => model.validate(), `${manifest.kind} ${manifest.metadata.name}`);
    }
  });

  t.test(`k3s: kubectl makes of ${folder} what the test does`, async (t) => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
    if (status === null) {
      t.comment('there is no kubectl here');
      return;
    }
    t.equal(status, 0, stderr);
    const made = stdout.replaceAll(/(lineside-settings)-[a-z0-9]{10}\b/g, '$1');
    t.same(byName(manifestsIn(made)), byName(resolve(folder)));
  });
}

t.test('k3s: the pod is as restricted as its namespace asks, with the user of the image and a root that nobody writes', async (t) => {
  const { spec } = one('StatefulSet') as Set;
  const [container] = spec.template.spec.containers;
  t.match(spec.template.spec, {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: Number, fsGroup: Number, seccompProfile: { type: 'RuntimeDefault' } },
  });
  t.match(container?.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, privileged: false, capabilities: { drop: ['ALL'] } });
  t.notOk('hostNetwork' in spec.template.spec || 'hostPID' in spec.template.spec);
  t.same(
    resolve('k3s/single-node').filter(({ kind }) => /Role|Secret/.test(kind)),
    [],
    'it needs no right in the cluster',
  );
  const written = container?.volumeMounts.filter((mount) => !('readOnly' in mount)).map(({ mountPath }) => mountPath);
  t.same(written, ['/var/lib/lineside', '/tmp']);
});

t.test('k3s: two pods are never on one volume, and what was stored outlives what is deleted', async (t) => {
  const { spec } = one('StatefulSet') as Set;
  t.match(spec, { replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } });
  t.match(spec.volumeClaimTemplates, [{ spec: { accessModes: ['ReadWriteOncePod'], storageClassName: 'lineside-local' } }]);
  t.match(one('StorageClass', 'lineside-local'), { reclaimPolicy: 'Retain', provisioner: 'rancher.io/local-path' });
});

t.test('k3s: the pod stays where it drives: after those of lower priority within what it asked for, and not ended for a node that was silent', async (t) => {
  const { spec } = one('StatefulSet') as Set;
  const { priorityClassName, tolerations } = spec.template.spec as Readonly<Record<string, unknown>>;
  const { value } = one('PriorityClass') as { readonly value: number };
  t.equal(priorityClassName, (one('PriorityClass') as Manifest).metadata.name);
  t.ok(value > 0 && value <= 1_000_000_000, 'above those of nobody, and below those of the system');
  t.same(
    tolerations,
    ['not-ready', 'unreachable'].map((state) => ({ key: `node.kubernetes.io/${state}`, operator: 'Exists', effect: 'NoExecute' })),
    'for as long as it takes: no tolerationSeconds',
  );
});

t.test('k3s: what names something is there, and times are those of the service', async (t) => {
  const { spec } = one('StatefulSet') as Set;
  const [container] = spec.template.spec.containers;
  t.match(
    one('Service'),
    { spec: { selector: { 'app.kubernetes.io/name': 'lineside' }, publishNotReadyAddresses: true } },
    'an appliance that is not ready is reached all the same',
  );
  t.match(spec.template.metadata.labels, { 'app.kubernetes.io/name': 'lineside' });
  t.equal(spec.serviceName, (one('Service') as Manifest).metadata.name);
  t.equal(`${spec.template.spec.terminationGracePeriodSeconds}s`, readUnit().one('TimeoutStopSec'));
  const { periodSeconds = 0, failureThreshold = 0 } = container?.startupProbe ?? {};
  t.equal(periodSeconds * failureThreshold, 15 * 60, 'a start has as long as under systemd');
  t.notOk('cpu' in (container?.resources.limits ?? {}), 'a limit of the processor would stop scans');
});

t.test('k3s: nobody talks to anybody who is not named, and an overlay names the networks of the plant', async (t) => {
  t.match(one('NetworkPolicy', 'default-deny'), { spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] } });
  const { spec } = one('NetworkPolicy') as { readonly spec: { readonly ingress: readonly object[]; readonly egress: readonly object[] } };
  for (const opening of spec.ingress) t.match(opening, { from: [{}], ports: [{}] });
  for (const opening of spec.egress) t.match(opening, { to: [{}], ports: [{}] });
});

t.test('k3s: the settings of the map are settings', async (t) => {
  const settings = readSettings(['--config', 'k3s/base/config.yaml'], {}, '/var/lib/lineside');
  t.equal(settings.realtimePriority, false);
});
