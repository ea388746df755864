/** Whether the outputs of a module may be in the hand of a loop check now: asked before it, and while it lasts. Pure but for reading. */
import { isSimulated } from '../../../runtime/catalog.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { channelsOf } from '../io-modules/channels.js';
import type { IOModuleSpec, IOModuleStatus } from '../io-modules/kind.js';
import { failSafeWords, type OutputHands, outputHands } from '../io-modules/output-hands.js';
import { isEnabled, type OutputsOfBox, withheldByBox } from '../io-modules/outputs.js';
import { ownersElsewhere } from '../control-modules/output-owners.js';
import { unitsAtWork } from '../logic/active-work.js';
import { sayOwner } from '../logic/output-claims.js';
import { CHANNEL_BLOCKS, ControlProgram, ioModuleOf } from '../logic/kind.js';
import type { LoopEnd } from './kind.js';

export type ModuleResource = Resource<IOModuleSpec, IOModuleStatus>;

export interface Barred {
  readonly end: LoopEnd;
  readonly refusal: Refusal;
}

const WAY_OUT = 'a loop check needs every unit behind the module at rest';

function outputNames({ metadata: { name }, spec }: ModuleResource): readonly string[] {
  return channelsOf(spec).flatMap((channel) => (channel.direction === 'output' ? [`${name}:${channel.name}`] : []));
}

/** Who has a hand on the outputs of the module, by place: through another module of its device too. */
export function handsOn(read: StoreReader, { metadata: { site, name }, spec }: ModuleResource): readonly OutputHands[] {
  const outputs = channelsOf(spec).filter(({ direction }) => direction === 'output');
  return outputs.map(outputHands(read, site, name));
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

/** Units that the hands belong to, and those of programs that are wired to the module. */
export function unitsOn(read: StoreReader, { metadata: { site, name } }: ModuleResource, hands: readonly OutputHands[]): Set<string> {
  const isWired = ({ type, params }: { readonly type: string; readonly params?: Readonly<Record<string, unknown>> }): boolean =>
    CHANNEL_BLOCKS.includes(type) && ioModuleOf(String(params?.addr ?? '')) === name;
  const ofPrograms = read.list(ControlProgram, site).flatMap(({ spec }) => (spec.blocks.some(isWired) ? [spec.unitRef] : []));
  return new Set([...hands.flatMap(({ units }) => units), ...ofPrograms].filter((unit) => unit !== ''));
}

/**
 * The first thing that stands in the way. `heldReason`: what the status says of the outputs while the check itself holds them; '' before
 * it does. `setting`: whether this box writes outputs at all.
 */
export function barredBy(read: StoreReader, module: ModuleResource, heldReason: string, setting: OutputsOfBox): Barred | undefined {
  const { spec, status, metadata } = module;
  const { name } = metadata;
  if (isSimulated(spec.protocol))
    return barred('module-changed', conflict('simulated_module', `I/O module ${name} is a simulation: it has no loop that could be checked`, { ioModule: name }));
  if (!isEnabled(spec)) return barred('module-changed', conflict('outputs_withheld', `I/O module ${name} is disabled: no connection is made`, { ioModule: name }));
  if (spec.failSafe?.posture === 'observed')
    return barred('module-changed', conflict('posture_observed', `I/O module ${name} is observed only (failSafe.posture): nothing is written to it`, { ioModule: name }));
  const byBox = withheldByBox(spec, setting);
  const { outputs } = status;
  const reason = byBox || (outputs?.state === 'withheld' && outputs.reason !== heldReason ? outputs.reason : '');
  if (reason !== '') return barred('outputs-withheld', conflict('outputs_withheld', reason, { ioModule: name }));
  const hands = handsOn(read, module);
  const [held] = hands.flatMap(({ failSafe }) => (failSafe === '' ? [] : [failSafe]));
  if (held !== undefined) return barred('fail-safe-taken', conflict('output_held', failSafeWords(held), { ioModule: held }));
  const automatic = unique(hands.flatMap((hand) => hand.automatic));
  const [atWork] = unitsAtWork(metadata.site, unitsOn(read, module, hands), read, WAY_OUT);
  if (atWork) return barred('unit-at-work', atWork.refusal);
  const [busy] = automatic;
  if (busy !== undefined)
    return barred(
      'automatic-mode',
      new Refusal(
        'forbidden',
        `control module ${automatic.join(', ')} is in Automatic; a loop check needs every control module with outputs on ${name} in Manual or Semi-Automatic`,
        {
          code: 'automatic_mode',
          controlModule: busy,
        },
      ),
    );
  const ownersOf = ownersElsewhere(read, metadata.site);
  const [elsewhere] = outputNames(module).flatMap((output) => ownersOf(output).map((owner) => ({ output, owner })));
  if (elsewhere)
    return barred(
      'module-changed',
      conflict(
        'output_claimed',
        `output ${elsewhere.output} is written by ${sayOwner(elsewhere.owner, elsewhere.output)}, which a check of ${name} would not hold: check it at that I/O module`,
        {
          output: elsewhere.output,
          owner: elsewhere.owner.owner,
        },
      ),
    );
  if (status.state !== 'Connected' && status.state !== 'Degraded')
    return barred('device-lost', new Refusal('unavailable', `I/O module ${name} is ${status.state}: ${status.message}`, { code: 'device_unreachable' }));
  return undefined;
}

function barred(end: LoopEnd, refusal: Refusal): Barred {
  return { end, refusal };
}
