/**
 * Services of process modules at run time (VDI/VDE/NAMUR 2658-4; decisions 3.10, 4.5; ADR 0074). Whoever looks sees the process image of the I/O
 * module. A chart is told what the device says when it is asked: behind a command that was accepted the image may still show the state of
 * before. A command goes to the word of the mode that the service is in, and is accepted when the service shows it.
 */
import type { ImagePlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Clock } from '../../platform/base/clock.js';
import { Deadline } from '../../platform/base/elapsed.js';
import type { Store } from '../../platform/store/store.js';
import type { RequestAnswer } from '../batches/phases/phase-reports.js';
import { imaged } from '../io-modules/imaged.js';
import { IOModule, type Service } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { bitOf, isServiceVariable, type ServiceVariable } from '../io-modules/service-words.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { enabledIn, procedureOf, type Seen, type SeenSample, stateIn, wordsFor } from './live-service.js';

export interface ServiceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly probes: Pick<LocalProbes, 'read' | 'write'>;
  readonly image: (site: string) => (module: string) => ImagePlan | undefined;
}

/** Whoever waits gives up after 10 s (decisions 4.5), and shall hear why before that. */
const ACCEPTED_WITHIN_MS = 9000;
const LOOK_EVERY_MS = 50;

interface FoundService {
  readonly site: string;
  readonly ioModule: string;
  readonly service: Service;
}

export interface ServiceOrder {
  readonly site: string;
  /** `<ioModule>/<service>` */
  readonly service: string;
  readonly command: string;
  /** Number or name; undefined: the module takes the one it has. */
  readonly procedure?: Value | undefined;
}

export class MtpServices {
  readonly #parts: ServiceParts;
  /** Commands on their way, by site and service: a second one would be judged by what the first is about to change. */
  readonly #underWay = new Map<string, string>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** MTP_STATE. */
  async state(site: string, name: string): Promise<RequestAnswer> {
    const found = this.#find(site, name);
    if ('refused' in found) return disabled(name, found.refused);
    const state = stateIn(await this.#ask(found, ['StateCur']));
    return 'unknown' in state ? disabled(name, state.unknown) : { ok: true, value: state.value };
  }

  /** MTP_COMMAND_ENABLED. */
  async commandEnabled(site: string, name: string, command: string): Promise<RequestAnswer> {
    const found = this.#find(site, name);
    if ('refused' in found) return disabled(name, found.refused);
    const enabled = enabledIn(await this.#ask(found, ['CommandEn']));
    return 'unknown' in enabled ? disabled(name, enabled.unknown) : { ok: true, value: enabled.value.some((word) => word === command) };
  }

  /** MTP_COMMAND. */
  async command(order: ServiceOrder): Promise<RequestAnswer> {
    const { site, service: name, command } = order;
    const found = this.#find(site, name);
    if ('refused' in found) return disabled(name, found.refused);
    const key = `${site}/${name}`;
    const before = this.#underWay.get(key);
    if (before !== undefined) return disabled(name, `its command ${before} is not accepted yet`);
    this.#underWay.set(key, command);
    try {
      return await this.#carryOut(found, order);
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** What the process image has of a service. */
  imageOf(site: string, ioModule: string, { variables }: Service): Seen {
    const plan = this.#parts.image(site)(ioModule);
    const samples = imaged(plan);
    const at = new Map(plan?.channels.map(({ name }, index) => [name, samples[index]]));
    return seenBy(variables, (channel) => at.get(channel) ?? { value: null, quality: 'Bad', message: `I/O module ${ioModule} is not connected` });
  }

  #find(site: string, name: string): FoundService | { readonly refused: string } {
    const slash = name.indexOf('/');
    const ioModule = slash < 0 ? name : name.slice(0, slash);
    const wanted = slash < 0 ? '' : name.slice(slash + 1);
    const module = this.#parts.store.get(IOModule, site, ioModule);
    if (!module) return { refused: `I/O module ${ioModule} does not exist; a service is named <ioModule>/<service>` };
    const service = module.spec.services?.find((each) => each.name === wanted);
    if (!service) return { refused: `I/O module ${ioModule} has no service ${wanted}; it has ${module.spec.services?.map((each) => each.name).join(', ') || 'none'}` };
    if (!isEnabled(module.spec)) return { refused: `I/O module ${ioModule} is disabled: no connection is made` };
    return { site, ioModule, service };
  }

  async #carryOut(found: FoundService, { service: name, command, procedure }: ServiceOrder): Promise<RequestAnswer> {
    const { service } = found;
    const bit = bitOf(command);
    if (bit === undefined) return disabled(name, `${command} is no command of a service`);
    const before = await this.#ask(found);
    const state = stateIn(before);
    if ('unknown' in state) return disabled(name, state.unknown);
    const enabled = enabledIn(before);
    if ('unknown' in enabled) return disabled(name, enabled.unknown);
    const shown = `it is ${state.value} and enables ${enabled.value.join(', ') || 'no command'}`;
    if (!enabled.value.some((word) => word === command)) return disabled(name, `it does not enable ${command}: ${shown}`);
    const words = wordsFor(before);
    if ('refused' in words) return disabled(name, words.refused);
    const within = new Deadline(this.#parts.clock, ACCEPTED_WITHIN_MS);
    if (procedure !== undefined && procedure !== null) {
      const id = procedureOf(service, typeof procedure === 'boolean' ? String(procedure) : procedure);
      if (id === undefined)
        return disabled(name, `it has no procedure ${String(procedure)}; it has ${service.procedures.map((each) => `${each.id} (${each.name})`).join(', ') || 'none'}`);
      const set = await this.#setProcedure(found, words.procedure, id, within);
      if (set !== '') return disabled(name, set);
    }
    const written = await this.#write(found, words.command, bit);
    if (written !== '') return disabled(name, written);
    return (await this.#isSeen(found, within, (seen) => isAccepted(before, seen, command, words.command)))
      ? { ok: true, value: true }
      : { ok: false, rule: 'mtp-command-timeout', message: `service ${name} has not accepted ${command} within ${ACCEPTED_WITHIN_MS / 1000} s; before it ${shown}` };
  }

  /** The module says in ProcedureReq what it will run next. @returns why it could not be set; '' when it is. */
  async #setProcedure(found: FoundService, variable: ServiceVariable, id: number, within: Deadline): Promise<string> {
    const written = await this.#write(found, variable, id);
    if (written !== '' || found.service.variables.ProcedureReq === undefined) return written;
    const isSet = await this.#isSeen(found, within, (seen) => Number(seen.get('ProcedureReq')?.value ?? Number.NaN) === id);
    return isSet ? '' : `it has not taken procedure ${id}`;
  }

  /** @returns why it was not written; '' when it was. */
  async #write({ site, ioModule, service }: FoundService, variable: ServiceVariable, value: number): Promise<string> {
    const channel = service.variables[variable];
    if (channel === undefined) return `it has no channel for ${variable}`;
    const reply = await this.#parts.probes.write(site, ioModule, channel, value);
    if (!reply) return `the probe of I/O module ${ioModule} does not answer`;
    return reply.ok ? '' : `${variable} was not written: ${reply.message}`;
  }

  /** Now, of the device; all variables where none are named. */
  async #ask({ site, ioModule, service: { variables } }: FoundService, only?: readonly ServiceVariable[]): Promise<Seen> {
    const asked = Object.fromEntries(Object.entries(variables).filter(([variable]) => !only || only.some((each) => each === variable)));
    const channels = Object.values(asked);
    const samples = channels.length === 0 ? [] : await this.#parts.probes.read(site, ioModule, channels);
    const at = new Map(samples?.map((sample, index) => [channels[index] ?? sample.channel, sample]));
    return seenBy(asked, (channel) => at.get(channel) ?? { value: null, quality: 'Bad', message: `the probe of I/O module ${ioModule} does not answer` });
  }

  async #isSeen(found: FoundService, within: Deadline, isIt: (seen: Seen) => boolean): Promise<boolean> {
    for (;;) {
      if (isIt(await this.#ask(found))) return true;
      if (within.hasPassed) return false;
      await new Promise<void>((resolve) => this.#parts.clock.after(LOOK_EVERY_MS, resolve));
    }
  }
}

function seenBy(variables: Readonly<Record<string, string>>, sampleOf: (channel: string) => SeenSample): Seen {
  return new Map(Object.entries(variables).flatMap(([variable, channel]) => (isServiceVariable(variable) ? [[variable, sampleOf(channel)] as const] : [])));
}

/**
 * Its state or its enabled commands are others than before; a value that is Bad proves nothing. Restart leads from Execute to Execute, and what lies
 * between may be over before somebody looks: of that it is enough that the module has taken the word back.
 */
function isAccepted(before: Seen, now: Seen, command: string, commandWord: ServiceVariable): boolean {
  const isGood = (variable: ServiceVariable): boolean => now.get(variable)?.quality === 'Good';
  const changed = (variable: ServiceVariable): boolean => isGood(variable) && Number(now.get(variable)?.value) !== Number(before.get(variable)?.value);
  return changed('StateCur') || changed('CommandEn') || (command === 'Restart' && isGood(commandWord) && Number(now.get(commandWord)?.value) === 0);
}

/** The phase is held (decisions 3.5), and goes on when somebody has looked at the module. */
function disabled(name: string, why: string): RequestAnswer {
  return { ok: false, rule: 'mtp-command-disabled', message: `service ${name}: ${why}` };
}
