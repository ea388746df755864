/** What a loop check does, from what was asked and what the module is. Pure but for reading. */
import * as v from 'valibot';
import { conflict, invalid } from '../../platform/base/refusal.js';
import { readDuration } from '../../platform/base/duration-text.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { Required } from '../../platform/store/fields.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { ProbeChannel } from '../../../runtime/port.js';
import { isSimulated, problemOfValue } from '../../../runtime/catalog.js';
import { type ChannelUser, rawRange, rawValue } from '../io-modules/channel-users.js';
import { channelsOf } from '../io-modules/channels.js';
import { IOModule } from '../io-modules/kind.js';
import { outputHands } from '../io-modules/output-hands.js';
import { isEnabled } from '../io-modules/outputs.js';
import type { LoopChannel } from './kind.js';
import type { ModuleResource } from './permission.js';

const PERCENT_DEFAULT = [0, 25, 50, 75, 100];
const BOOL_STEPS = [0, 1, 0];
const STEPS_MAX = 21;
const CHANNELS_MAX = 256;
const NEIGHBOURS_MAX = 8;
const SETTLE = { min: 50, max: 60_000 };
const ATTEND = { confirm: { min: 1000, max: 600_000, default: '60s' }, hold: { min: 1000, max: 60_000, default: '5s' } } as const;

const Percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

export const LoopChannelRequest = v.strictObject({
  channel: Required,
  /** Ends of the range that is gone through; without them those of its control module. */
  low: v.optional(v.number()),
  high: v.optional(v.number()),
  /** The input that is wired to it: `channel`, or `module:channel`. */
  input: v.optional(Required),
  /** The input shows gain * output + offset. */
  gain: v.optional(v.number(), 1),
  offset: v.optional(v.number(), 0),
});

export const LoopCheckRequest = v.strictObject({
  reason: v.optional(v.string(), ''),
  /** Without: every output of the module but texts and the heartbeat. */
  channels: v.optional(v.pipe(v.array(v.union([Required, LoopChannelRequest])), v.minLength(1), v.maxLength(CHANNELS_MAX))),
  /** Per cent of the range of a number. */
  steps: v.optional(v.pipe(v.array(Percent), v.minLength(2), v.maxLength(STEPS_MAX)), PERCENT_DEFAULT),
  /** Within it a reading has to agree. */
  settle: v.optional(v.string(), '2s'),
  tolerance: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(20)), 0.5),
  attend: v.optional(v.picklist(['confirm', 'hold']), 'confirm'),
  /** Without a sign of a person for so long the check ends. */
  attendTimeout: v.optional(v.string()),
  /** Other modules that are watched; without: those of the same controller. */
  neighbours: v.optional(v.pipe(v.array(Required), v.maxLength(NEIGHBOURS_MAX))),
});
export type LoopCheckRequest = v.InferOutput<typeof LoopCheckRequest>;

nameSchemas({ LoopChannelRequest, LoopCheckRequest });

/** One output with what is written to it. */
export interface PlannedChannel {
  readonly row: LoopChannel;
  readonly steps: readonly { readonly percent?: number; readonly value: number }[];
}

export interface LoopPlan {
  readonly channels: readonly PlannedChannel[];
  readonly settleMs: number;
  readonly tolerance: number;
  readonly attend: 'confirm' | 'hold';
  readonly attendTimeoutMs: number;
  readonly neighbours: readonly string[];
}

function bounded(text: string, field: string, { min, max }: { readonly min: number; readonly max: number }): number {
  const ms = readDuration(text, field);
  if (ms < min || ms > max) throw invalid('out_of_range', field, `${field} ${text} is outside ${min} ms to ${max / 1000} s`);
  return ms;
}

/** @throws Refusal 400 that names the field, 409 `nothing_to_check`. */
export function planned(read: StoreReader, module: ModuleResource, body: LoopCheckRequest): LoopPlan {
  const { site, name } = module.metadata;
  const outputs = channelsOf(module.spec).filter(({ direction }) => direction === 'output');
  const heartbeat = module.spec.failSafe?.heartbeatChannel ?? '';
  const handsOf = outputHands(read, site, name);
  const wanted =
    body.channels?.map((each) => (typeof each === 'string' ? v.parse(LoopChannelRequest, { channel: each }) : each)) ??
    outputs
      .filter((channel) => channel.dataType !== 'string' && channel.name !== heartbeat && channel.address !== heartbeat)
      .map((channel) => v.parse(LoopChannelRequest, { channel: channel.name }));
  if (wanted.length === 0) throw conflict('nothing_to_check', `I/O module ${name} has no output that could be gone through`, { ioModule: name });
  const seen = new Set<string>();
  const channels = wanted.map((asked, at): PlannedChannel => {
    const field = `channels[${at}]`;
    const channel = outputs.find((output) => output.name === asked.channel || output.address === asked.channel);
    if (!channel) throw invalid('unknown_channel', field, `I/O module ${name} has no output ${asked.channel}`);
    if (seen.has(channel.name)) throw invalid('invalid_field', field, `output ${channel.name} is named twice`);
    if (channel.name === heartbeat || channel.address === heartbeat)
      throw invalid('invalid_field', field, `output ${channel.name} is the heartbeat of the module and changes by itself`);
    seen.add(channel.name);
    const row = rowOf(read, module, channel, asked, handsOf(channel).alike, field);
    const steps = stepsOf(row, body.steps);
    for (const { value } of steps) {
      const problem = problemOfValue(module.spec.protocol, channel.address, value);
      if (problem !== '') throw invalid('out_of_range', field, `output ${channel.name} cannot take a step of its range: ${problem}; give low and high that it holds`);
    }
    return { row, steps };
  });
  return {
    channels,
    settleMs: bounded(body.settle, 'settle', SETTLE),
    tolerance: body.tolerance,
    attend: body.attend,
    attendTimeoutMs: bounded(body.attendTimeout ?? ATTEND[body.attend].default, 'attendTimeout', ATTEND[body.attend]),
    neighbours: neighboursOf(read, module, body.neighbours),
  };
}

type Asked = ToldBy<typeof LoopChannelRequest>;

function rowOf(read: StoreReader, module: ModuleResource, channel: ProbeChannel, asked: Asked, users: readonly ChannelUser[], field: string): LoopChannel {
  const { dataType } = channel;
  if (dataType === 'string') throw invalid('invalid_field', field, `output ${channel.name} is a text, which has no range`);
  const [low, high] = dataType === 'bool' ? [0, 1] : ends(channel, asked, users, field);
  return {
    channel: channel.name,
    address: channel.address,
    dataType,
    low,
    high,
    input: asked.input === undefined ? null : { ...inputOf(read, module, asked.input, `${field}.input`), gain: asked.gain, offset: asked.offset },
    outcome: 'not-checked',
    message: '',
    moved: [],
    steps: [],
  };
}

/** What was asked, within what its control modules allow; else all of that. */
function ends(channel: ProbeChannel, { low, high }: Asked, users: readonly ChannelUser[], field: string): readonly [number, number] {
  const { name } = channel;
  const [least, most] = allowedOf(channel, users);
  if (least >= most) throw invalid('out_of_range', field, `the limits of output ${name} leave no range: its AO block and its tags allow ${least} to ${most}`);
  const [from, to] = [low ?? least, high ?? most];
  if (!Number.isFinite(from) || !Number.isFinite(to)) throw invalid('missing_field', field, `no control module tells the range of output ${name}; give low and high`);
  if (from >= to) throw invalid('invalid_field', `${field}.high`, `high ${to} of output ${name} must be above low ${from}`);
  if (!Number.isFinite((to - from) * 100))
    throw invalid('out_of_range', `${field}.high`, `${from} to ${to} of output ${name} is too wide a range: its steps are no numbers; give low and high that lie closer`);
  const isBelow = from < least;
  if (isBelow || to > most)
    throw invalid('out_of_range', `${field}.${isBelow ? 'low' : 'high'}`, `${from} to ${to} is outside the range ${saidEnd(least)} to ${saidEnd(most)} of output ${name}`);
  return [from, to];
}

const saidEnd = (end: number): string => (Number.isFinite(end) ? String(end) : '-');

/** The narrowest of all: the raw range of an AO, the limits of each tag that carries the output, one of them too. An end that nobody tells is infinite. */
function allowedOf({ dataType }: ProbeChannel, users: readonly ChannelUser[]): readonly [least: number, most: number] {
  const ranges = users.flatMap((user) => [rawRange(user), tagRange(user)].filter((range) => range !== undefined));
  const least = Math.max(-Infinity, ...ranges.map(([from]) => from));
  const most = Math.min(Infinity, ...ranges.map(([, to]) => to));
  return dataType === 'int' ? [Math.ceil(least), Math.floor(most)] : [least, most];
}

/** Limits of a tag as the device has them. */
function tagRange(user: ChannelUser): readonly [number, number] | undefined {
  const rawOf = (limit: number | undefined, none: number): number => (limit === undefined ? none : rawValue(limit, user));
  const isFalling = rawValue(1, user) < rawValue(0, user);
  const [from, to] = [rawOf(user.tag.min, isFalling ? Infinity : -Infinity), rawOf(user.tag.max, isFalling ? -Infinity : Infinity)];
  return Number.isNaN(from) || Number.isNaN(to) ? undefined : [Math.min(from, to), Math.max(from, to)];
}

function inputOf(read: StoreReader, module: ModuleResource, text: string, field: string): { readonly module: string; readonly channel: string } {
  const { site, name } = module.metadata;
  const own = channelsOf(module.spec).find((channel) => channel.name === text || channel.address === text);
  if (own) return { module: name, channel: own.name };
  const at = text.indexOf(':');
  const other = at > 0 ? read.get(IOModule, site, text.slice(0, at)) : undefined;
  const key = text.slice(at + 1);
  const found = other && channelsOf(other.spec).find((channel) => channel.name === key || channel.address === key);
  if (!other || !found) throw invalid('unknown_channel', field, `${text} is no channel of I/O module ${name}, nor <module>:<channel> of another one of the site`);
  return { module: other.metadata.name, channel: found.name };
}

function stepsOf({ dataType, low, high }: LoopChannel, percents: readonly number[]): PlannedChannel['steps'] {
  if (dataType === 'bool') return BOOL_STEPS.map((value) => ({ value }));
  return percents.map((percent) => {
    const value = low + ((high - low) * percent) / 100;
    return { percent, value: dataType === 'int' ? Math.round(value) : value };
  });
}

function neighboursOf(read: StoreReader, module: ModuleResource, asked: readonly string[] | undefined): readonly string[] {
  const { site, name } = module.metadata;
  if (asked) {
    for (const [at, each] of asked.entries())
      if (each === name || !read.get(IOModule, site, each)) throw invalid('unknown_reference', `neighbours[${at}]`, `${each} is no other I/O module of site ${site}`);
    return asked;
  }
  const others = read.list(IOModule, site).filter(({ metadata, spec }) => metadata.name !== name && !isSimulated(spec.protocol) && isEnabled(spec));
  return others
    .filter(({ spec }) => spec.controllerRef === module.spec.controllerRef)
    .map(({ metadata }) => metadata.name)
    .slice(0, NEIGHBOURS_MAX);
}
