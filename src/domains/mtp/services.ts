/**
 * Services of process modules at run time (VDI/VDE/NAMUR 2658-4; decisions 3.10, 4.5; ADR 0074). Whoever looks sees the process image of the I/O
 * module. A chart is told what the device says when it is asked: behind a command that was accepted the image may still show the state of
 * before. Commands: `service-command.ts`.
 */
import type { ImagePlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Store } from '../../platform/store/store.js';
import type { Asked, RequestAnswer } from '../batches/phases/phase-reports.js';
import { imaged } from '../io-modules/imaged.js';
import { IOModule, type Service } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { isServiceVariable, type ServiceVariable } from '../io-modules/service-words.js';
import type { LocalProbes } from '../placement/local-probes.js';
import { enabledIn, type Seen, type SeenSample, stateIn } from './live-service.js';
import { disabled, ServiceCommandRun, type ServiceDevice } from './service-command.js';

export interface ServiceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly probes: Pick<LocalProbes, 'read' | 'write'>;
  readonly image: (site: string) => (module: string) => ImagePlan | undefined;
}

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
  readonly #underWay = new Map<string, { readonly command: string; readonly asked: Asked; readonly ended: Promise<unknown> }>();

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
  async command({ site, service: name, command, procedure }: ServiceOrder, asked: Asked): Promise<RequestAnswer> {
    const key = `${site}/${name}`;
    for (let before = this.#underWay.get(key); before; before = this.#underWay.get(key)) {
      if (before.asked.stillWaits()) return disabled(name, `its command ${before.command} is not accepted yet`);
      // of a phase that was held or aborted: what it does then comes behind it, and is not refused for it
      await before.ended;
    }
    const found = this.#find(site, name);
    if ('refused' in found) return disabled(name, found.refused);
    const device: ServiceDevice = {
      service: found.service,
      ask: (only) => this.#ask(found, only),
      write: (variable, value) => this.#write(found, variable, value),
    };
    const ended = ServiceCommandRun.carryOut(device, { clock: this.#parts.clock, name, command, procedure, asked });
    this.#underWay.set(key, { command, asked, ended: ended.catch(() => undefined) });
    try {
      return await ended;
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
    const samples = channels.length === 0 ? [] : await this.#parts.probes.read(site, ioModule, channels, 'chart');
    const at = new Map(samples?.map((sample, index) => [channels[index] ?? sample.channel, sample]));
    return seenBy(asked, (channel) => at.get(channel) ?? { value: null, quality: 'Bad', message: `the probe of I/O module ${ioModule} does not answer` });
  }
}

function seenBy(variables: Readonly<Record<string, string>>, sampleOf: (channel: string) => SeenSample): Seen {
  return new Map(Object.entries(variables).flatMap(([variable, channel]) => (isServiceVariable(variable) ? [[variable, sampleOf(channel)] as const] : [])));
}
