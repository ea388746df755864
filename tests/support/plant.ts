/**
 * The whole appliance in this process: demonstration plant, real unit and probe threads, real ledger, REST on a free port.
 * Plant time runs 5 times as fast as wall time: a demonstration batch takes about 12 s.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Appliance } from '../../src/appliance/appliance.js';
import { startAppliance } from '../../src/main.js';
import { type Clock, systemClock } from '../../src/platform/base/clock.js';
import { readSettings } from '../../src/settings.js';
import { tellInterface } from './answer-check.js';
import { type ApiAnswer, ApiClient, eventually, PATIENCE_MS } from './api-client.js';
import { CHEAP_PASSWORDS } from './cheap-passwords.js';
import { ORDINARY_PRIORITY } from './thrifty-threads.js';
import { patientDemo } from './patient-demo.js';

export const SITE = '/api/v1/sites/demo';
/** Units of the demonstration plant. */
export const UNITS = ['mx101', 'rx101', 'tk201'];
/** The clock of the gateway, set by so many ms; the threads beside it keep that of the machine. */
export class SetClock implements Clock {
  setByMs = 0;
  wallMs = (): number => systemClock.wallMs() + this.setByMs;
  monoMs = (): number => systemClock.monoMs();
  after = (delayMs: number, call: () => void): (() => void) => systemClock.after(delayMs, call);
}

/** How soon a change of the store is seen: states that a batch passes through are not missed. */
const CHANGED_EVERY_MS = 15;
/** Values and the states of runtimes are not stored; looking for them costs a request each time. */
const UNSTORED_EVERY_MS = 60;
const PRODUCT = { version: '0.0.0-test', commit: '' };

/** What a batch leaves behind is past as soon as nothing waits for it: what is served of it has to be the same. */
export const PAST_AT_ONCE = { LINESIDE_BATCH__PASTAFTER: '1ms', LINESIDE_BATCH__RECORDPASTAFTER: '1ms' };

export interface PlantOptions {
  readonly authMode?: 'none' | 'local';
  readonly timeScale?: number;
  readonly production?: boolean;
  readonly clock?: Clock;
  /** Further settings as `LINESIDE_...` variables. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Prompt {
  readonly id: string;
  readonly phase: string;
  readonly unit: string;
  readonly batch: string;
  readonly type: 'acknowledge' | 'choice' | 'value';
  readonly text: string;
  readonly resultKey?: string;
  readonly choices?: readonly string[];
}

/** What the demonstration batch is told: a pH inside its limits and a viscosity of the laboratory. */
export const ANSWERS: Readonly<Record<string, string>> = { ph: '7.2', viscosity: '420' };

/** Half a batch with all its phases and prompts, in two thirds of the time: little is stirred, reacts, is cooled and is rinsed. */
export const SMALL = {
  quantity: '14',
  parameters: Object.entries({ premixTime: '1', reactTime: '1', coolTemp: '70', rinseAmount: '2' }).map(([name, value]) => ({ name, value })),
};

/** The same, and its phase heat runs for half a minute of plant time at least: it is still there when somebody has seen it run. */
export const SLOWLY_HEATED = { ...SMALL, parameters: [...SMALL.parameters, { name: 'rampRate', value: '2' }] };

/** A batch whose one phase, cip, runs for these seconds of plant time at least: it is still there when somebody has seen it run. */
export const cleaning = (seconds: number) => ({ masterRecipeRef: 'clean-train', parameters: [{ name: 'dwellTime', value: String(seconds) }] });

export class Plant {
  readonly dataDir: string;
  readonly #options: PlantOptions;
  #demo: string | undefined;
  #appliance: Appliance | undefined;
  #count = 0;

  constructor(dataDir: string, options: PlantOptions) {
    this.dataDir = dataDir;
    this.#options = options;
  }

  get appliance(): Appliance {
    if (!this.#appliance) throw new Error('the appliance is stopped');
    return this.#appliance;
  }

  get base(): string {
    return `http://127.0.0.1:${this.appliance.port}`;
  }

  get api(): ApiClient {
    return new ApiClient(this.base);
  }

  /** `changed`: settings beside those it was made with. */
  async start(changed: Readonly<Record<string, string>> = {}): Promise<void> {
    process.env.LINESIDE_LOG_LEVEL ??= 'silent';
    const { authMode = 'none', timeScale = 5, production = false, environment = {} } = this.#options;
    const settings = readSettings(
      [],
      {
        LINESIDE_GATEWAY__HTTPPORT: '0',
        LINESIDE_GATEWAY__LISTEN: '127.0.0.1',
        LINESIDE_GATEWAY__OPERATINGMODE: production ? 'production' : 'development',
        LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
        LINESIDE_AUTH__MODE: authMode,
        ...ORDINARY_PRIORITY,
        ...(production ? {} : CHEAP_PASSWORDS),
        ...(production ? { LINESIDE_DEMO__ENABLED: 'false' } : { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_DEMO__DIR: (this.#demo ??= patientDemo(`${this.dataDir}-demo`)) }),
        LINESIDE_RUNTIME__TIMESCALE: String(timeScale),
        ...(process.env.PAST_AT_ONCE === '1' ? PAST_AT_ONCE : {}),
        ...environment,
        ...changed,
      },
      this.dataDir,
    );
    this.#appliance = await startAppliance(settings, PRODUCT, this.#options.clock);
    tellInterface(this.#appliance.port, this.#appliance.rows);
    if (production) return;
    await this.runtimesReady();
    await this.#inputsMeasured();
  }

  #inputsMeasured(): Promise<unknown> {
    return this.look('the inputs are measured', async () => {
      const waiting = await unmeasured((path) => this.api.get(path));
      return { done: waiting.length === 0 || undefined, seen: `waiting for ${waiting.join(', ')}` };
    });
  }

  runtimesReady(units: readonly string[] = UNITS): Promise<unknown> {
    return this.look(`the runtimes of ${units.join(', ')} are ready`, async () => {
      const waiting = (await Promise.all(units.map((unit) => this.unit(unit)))).filter((unit) => !unit?.runtimeReady);
      return { done: waiting.length === 0 || undefined, seen: `waiting for ${waiting.map((unit) => unit?.name).join(', ')}` };
    });
  }

  /** Ends the appliance; the data directory stays for another start. */
  async stop(): Promise<void> {
    const appliance = this.#appliance;
    this.#appliance = undefined;
    await appliance?.stop();
  }

  async restart(changed: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.stop();
    await this.start(changed);
  }

  async end(): Promise<void> {
    await this.stop();
    for (const folder of [this.dataDir, `${this.dataDir}-demo`]) rmSync(folder, { recursive: true, force: true });
  }

  // ------------------------------------------------------------ batches

  /** Makes a phase template and a master recipe of this name whose one phase runs it on the reactor; its path is up/op/phase. */
  async recipeOf(name: string, template: object): Promise<void> {
    const made = await this.api.post(`${SITE}/phasetemplates`, { name, spec: template });
    if (made.status !== 201) throw new Error(made.text);
    const phase = { name: 'phase', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: name };
    const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [phase] } };
    const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'reactor', subChart: { steps: [operation] } }] } };
    const recipe = await this.api.post(`${SITE}/recipes/master`, { name, spec: { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure } });
    if (recipe.status !== 201) throw new Error(recipe.text);
  }

  /** Makes a batch and answers its resource name. */
  async createBatch(spec: Readonly<Record<string, unknown>> = {}): Promise<string> {
    this.#count += 1;
    const answer = await this.api.post(`${SITE}/batches`, { batchID: `B-${process.pid}-${this.#count}`, masterRecipeRef: 'resin-a', ...spec });
    if (answer.status !== 201) throw new Error(`POST batches: ${answer.status} ${answer.text}`);
    return answer.body.name as string;
  }

  /** What people call it by; the name itself of a run without a batch. */
  async numberOf(holder: string): Promise<string> {
    return (await this.batch(holder)).batchID ?? holder;
  }

  /** Makes, starts, and waits until the batch has begun: one that takes a moment only may be over by then. */
  async runBatch(spec: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const batch = await this.createBatch(spec);
    const answer = await this.command(batch, 'Start');
    if (answer.status !== 200) throw new Error(`Start: ${answer.status} ${answer.text}`);
    await this.look(`batch ${batch} has begun`, async () => {
      const { phase, blockedBecause } = await this.batch(batch);
      return { done: phase !== 'Pending' || undefined, seen: `it is ${phase}: ${blockedBecause}` };
    });
    return batch;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async batch(name: string): Promise<any> {
    return (await this.api.get(`${SITE}/batches/${name}`)).body;
  }

  command(batch: string, command: string, reason = 'asked for by the test'): Promise<ApiAnswer> {
    return this.api.post(`${SITE}/command`, { kind: 'Batch', name: batch, command, reason });
  }

  /** Waits until the batch is in the state; @returns its body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  until(batch: string, state: string, timeoutMs = PATIENCE_MS): Promise<any> {
    return this.look(
      `batch ${batch} is ${state}`,
      async () => {
        const body = await this.batch(batch);
        return { done: body.phase === state ? body : undefined, seen: `it is ${body.phase}: ${body.blockedBecause}` };
      },
      timeoutMs,
    );
  }

  /** Waits for what the probe calls done; a failure tells what was seen last. It looks when something stored has changed, and now and then for what is not stored. */
  async look<T>(what: string, probe: () => Promise<{ readonly done: T | undefined; readonly seen: string }>, timeoutMs = PATIENCE_MS): Promise<T> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const version = this.#resourceVersion;
      const found = await probe();
      if (found.done) return found.done;
      const lookedAt = performance.now();
      if (lookedAt > end) throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}; ${found.seen}`);
      do await new Promise((resolve) => setTimeout(resolve, CHANGED_EVERY_MS));
      while (this.#resourceVersion === version && performance.now() < lookedAt + UNSTORED_EVERY_MS);
    }
  }

  get #resourceVersion(): number {
    return this.#appliance?.resourceVersion ?? 0;
  }

  // ------------------------------------------------------------ phases and prompts

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async phases(batch: string): Promise<any[]> {
    return (await this.api.get(`${SITE}/phases`)).body.filter((phase: { batch: string }) => phase.batch === batch);
  }

  /** Waits until a phase made from the template is in the state; @returns its list item. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  untilPhase(batch: string, templateRef: string, state: string, timeoutMs = PATIENCE_MS): Promise<any> {
    return this.look(
      `phase ${templateRef} of ${batch} is ${state}`,
      async () => {
        const own = (await this.phases(batch)).filter((phase) => phase.templateRef === templateRef);
        return { done: own.find((phase) => phase.state === state), seen: `its states are ${own.map((phase) => phase.state).join(', ')}` };
      },
      timeoutMs,
    );
  }

  /** It has left Idle: a fact that stays, for phases that may be over before anybody looks. */
  untilBegun(batch: string, templateRef: string, timeoutMs = PATIENCE_MS): Promise<unknown> {
    return this.look(
      `phase ${templateRef} of ${batch} has begun`,
      async () => {
        const own = (await this.phases(batch)).filter((phase) => phase.templateRef === templateRef);
        return { done: own.find(({ state }) => state !== 'Idle'), seen: `its states are ${own.map(({ state }) => state).join(', ')}` };
      },
      timeoutMs,
    );
  }

  async prompts(batch: string): Promise<Prompt[]> {
    return (await this.api.get(`${SITE}/prompts`)).body.filter((prompt: Prompt) => prompt.batch === batch);
  }

  untilPrompt(batch: string, timeoutMs = PATIENCE_MS): Promise<Prompt> {
    return this.look(
      `batch ${batch} asks something`,
      async () => {
        const [prompt] = await this.prompts(batch);
        return { done: prompt, seen: `it is ${(await this.batch(batch)).blockedBecause}` };
      },
      timeoutMs,
    );
  }

  answer(prompt: Prompt, response: string, reason = 'measured at the bench'): Promise<ApiAnswer> {
    return this.api.post(`${SITE}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response, reason });
  }

  /** Answers whatever the batch asks until it is in the state. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async finish(batch: string, state = 'Complete', answers: Readonly<Record<string, string>> = ANSWERS, timeoutMs = PATIENCE_MS): Promise<any> {
    return this.look(
      `batch ${batch} is ${state}`,
      async () => {
        for (const prompt of await this.prompts(batch)) await this.answer(prompt, answerTo(prompt, answers));
        const body = await this.batch(batch);
        return { done: body.phase === state ? body : undefined, seen: `it is ${body.phase}: ${body.blockedBecause}` };
      },
      timeoutMs,
    );
  }

  // ------------------------------------------------------------ facts

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async events(batch: string): Promise<any[]> {
    return (await this.api.get(`${SITE}/batches/${batch}/events?limit=1000&order=asc`)).body.items;
  }

  /** Deletes a batch that has ended, once its record is made. */
  async remove(batch: string): Promise<void> {
    const answer = await this.look(`the record of ${batch}`, async () => {
      const deleted = await this.api.delete(`${SITE}/batches/${batch}`);
      return { done: deleted.status === 409 && deleted.body.code === 'record_pending' ? undefined : deleted, seen: deleted.text };
    });
    if (answer.status !== 204) throw new Error(`DELETE ${batch}: ${answer.status} ${answer.text}`);
  }

  /** Audit records of one request, oldest first, once there are so many. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  audit(answer: ApiAnswer, count = 2): Promise<any[]> {
    const id = answer.headers.get('x-correlation-id');
    return this.look(
      `${count} audit records under ${id}`,
      async () => {
        const { body } = await this.api.get(`${SITE}/audit/correlation/${id}`);
        return { done: body?.length >= count ? body : undefined, seen: `there are ${body?.length}` };
      },
      10_000,
    );
  }

  /** A verification of now: one that the appliance began by itself is waited for. */
  verified(): Promise<ApiAnswer> {
    return this.look('a verification', async () => {
      const answer = await this.api.post('/api/v1/system/integrity');
      return { done: answer.body.code === 'already_running' ? undefined : answer, seen: answer.text.slice(0, 200) };
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  async unit(name: string): Promise<any> {
    return (await this.api.get(`${SITE}/units/${name}`)).body;
  }
}

/** A measured value of each unit; its others are of the same scan. */
const LEVELS: readonly (readonly [string, string])[] = [
  ['mx101', 'li111.pv'],
  ['rx101', 'li101.pv'],
  ['tk201', 'li201.pv'],
];

/**
 * What of the demonstration plant is not measured yet, or not scanned since: a batch that starts earlier would wait for valves
 * that nobody has looked at, while the time-outs of its charts go by.
 */
export async function unmeasured(get: (path: string) => Promise<{ readonly body?: unknown }>): Promise<string[]> {
  const modules = (await get(`${SITE}/iomodules`)).body as { name: string; connectivity: { verdict: string } }[];
  const silent = modules.filter((module) => module.connectivity.verdict !== 'measured').map((module) => `${module.name}, ${module.connectivity.verdict}`);
  if (silent.length > 0) return silent;
  const levels = await Promise.all(LEVELS.map(async ([unit, tag]) => ({ tag, read: (await get(`${SITE}/units/${unit}/tags/${tag}`)).body as { quality?: string } })));
  return levels.filter(({ read }) => read.quality !== 'Good').map(({ tag, read }) => `${tag}, ${read.quality}`);
}

/** A chart that ends when somebody acknowledges the question. */
export const asking = (question: string) => ({
  steps: [{ name: 'ask', initial: true, actionST: `said := PROMPT('${question}');` }, { name: 'done' }],
  transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
});

/** Every unit of an appliance in its own process is scanned, and what it reads is measured: `/readyz` does not wait for that, and a Start before it is 409. */
export function unitsReady(api: ApiClient): Promise<boolean> {
  return eventually('the units are ready', async () => {
    const units = (await api.get(`${SITE}/units`)).body as { runtimeReady: boolean }[];
    return units.every((unit) => unit.runtimeReady) && (await unmeasured((path) => api.get(path))).length === 0;
  });
}

export function answerTo(prompt: Prompt, answers: Readonly<Record<string, string>>): string {
  if (prompt.type === 'choice') return answers.choice ?? prompt.choices?.[0] ?? '';
  return prompt.type === 'acknowledge' ? '' : (answers[prompt.resultKey ?? 'ph'] ?? '');
}

export function outputOf(batch: { readonly outputs: readonly { readonly name: string; readonly value: string }[] }, name: string): number {
  return Number(batch.outputs.find((output) => output.name === name)?.value);
}

export async function startPlant(options: PlantOptions = {}): Promise<Plant> {
  const plant = new Plant(mkdtempSync(path.join(tmpdir(), 'lineside-plant-')), options);
  await plant.start();
  return plant;
}
