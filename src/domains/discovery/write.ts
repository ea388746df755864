/** A node of a server written by an engineer (decisions Q-UNIT-08): one that is a configured channel is written under the rules of that channel. */
import * as v from 'valibot';
import { checkChannelAddress, EXPLORED_PROTOCOL } from '../../../runtime/catalog.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { AuditEntry, RequestContext } from '../../platform/http/route.js';
import { Scalar, Text } from '../../platform/store/fields.js';
import type { Store } from '../../platform/store/store.js';
import { type OutputsOfBox, withheldByBox } from '../io-modules/outputs.js';
import { checkWrite, type WriteBarriers } from '../io-modules/write-barriers.js';
import { asked } from './asked.js';
import { concerned, type Concern, NodeText } from './concerned.js';
import type { Explorer } from './explorer.js';
import type { ServerScope } from './scope.js';
import { TARGET, type TargetDeps, targetOf } from './target.js';

export interface WriteDeps extends TargetDeps, WriteBarriers {
  readonly store: Store;
  readonly explorer: Explorer;
  readonly scope: ServerScope;
  /** Whether this box writes outputs at all. */
  readonly outputs: OutputsOfBox;
}

export const WriteQuestion = v.strictObject({ ...TARGET, nodeId: NodeText, value: Scalar, dataType: Text });
type WriteQuestion = v.InferOutput<typeof WriteQuestion>;

export const WriteBody = v.strictObject({ ok: v.boolean(), nodeId: v.string(), opcStatus: v.string(), message: v.string() });
type Written = v.InferOutput<typeof WriteBody>;

/** The rules of the channels that the node is. @throws Refusal */
function checkChannels(concerns: readonly Concern[], { nodeId, value }: WriteQuestion, deps: WriteDeps): void {
  for (const { module, channels } of concerns) {
    refuseWithheld(module);
    for (const { address, isPart } of channels) {
      checkWrite(module, { channel: address, value }, deps);
      if (isPart) throw invalid('invalid_field', 'nodeId', `${nodeId} and channel ${address} of I/O module ${module.metadata.name} are parts of one another; write the channel`);
    }
  }
}

function refuseWithheld({ metadata, status }: Concern['module']): void {
  if (status.outputs?.state !== 'withheld') return;
  throw new Refusal('conflict', `outputs of I/O module ${metadata.name}, which is for this server, are withheld: ${status.outputs.reason}`, { code: 'outputs_withheld' });
}

export async function write(context: RequestContext<Readonly<Record<string, never>>, WriteQuestion>, deps: WriteDeps): Promise<Written> {
  const { body, caller } = context;
  const { nodeId, value, dataType, ioModule, site, endpointUrl } = body;
  const named = site === undefined || ioModule === undefined ? {} : { target: { kind: 'IOModule', name: ioModule, site } };
  context.about({ ...named, after: value, details: { ...(endpointUrl === undefined ? {} : { endpointUrl }), nodeId, ...(dataType === '' ? {} : { dataType }) } });
  const target = await targetOf(body, caller, deps);
  deps.scope.refuseKnown(target, caller); // every other name of it is asked for below, with the rules of its channels
  const node = checkChannelAddress(EXPLORED_PROTOCOL, 'output', nodeId);
  if ('error' in node) throw invalid('invalid_field', 'nodeId', node.error);
  const withheld = withheldByBox({ protocol: EXPLORED_PROTOCOL }, deps.outputs);
  if (withheld !== '') throw new Refusal('conflict', withheld, { code: 'outputs_withheld' });
  const servers = await concerned(target, nodeId, context, deps, (sure) => checkChannels(sure, body, deps));
  const concerns = servers.concerns(context.caller);
  checkChannels(concerns, body, deps);
  const [first] = concerns;
  const about = {
    ...(first ? { target: { kind: 'IOModule', name: first.module.metadata.name, site: first.module.metadata.site } } : {}),
    after: value,
    details: { endpointUrl: target.endpointUrl, nodeId, ...(dataType === '' ? {} : { dataType }) },
  };
  await deps.store.write({ audits: [context.audit({ ...about, result: 'Accepted' })] }); // on record before the device sees it (D-AUDIT-01)
  context.judgeAgain();
  checkChannels(servers.concerns(context.caller), body, deps); // while it was synced, a module may have gone to Automatic
  try {
    const ask = { what: 'write', nodeId, value, ...(dataType === '' ? {} : { dataType }) } as const;
    const written = await asked<Written>(target, ask, caller, deps.explorer, 'value');
    const verdict = written.ok ? { result: 'Success' } : { result: 'Failed', reason: 'DeviceRefused' };
    await deps.store.write({ audits: [context.audit({ ...about, ...verdict, details: { ...about.details, opcStatus: written.opcStatus } } as AuditEntry)] });
    return written;
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    await deps.store.write({ audits: [context.audit({ ...about, result: 'Failed', reason: 'DeviceRefused', details: { ...about.details, message } } as AuditEntry)] });
    throw fault;
  }
}
