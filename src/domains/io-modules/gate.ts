/**
 * The gate of a working unit for the channels that its logic reads and writes (D-C-13): one that goes, or becomes another
 * one, changes what the logic does as an edit of the logic would. What a repair needs passes: address and options of the
 * device, intervals, words.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type PassedGate, usedUp } from '../control-modules/gate.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { editsOf } from '../logic/active-work.js';
import { programUsedUp } from '../logic/hot-swap.js';
import { ControlProgram, ownerOfProgram, CHANNEL_BLOCKS, ioModuleOf } from '../logic/kind.js';
import type { IOModuleSpec } from './kind.js';
import { modulesNaming } from '../control-modules/output-drivers.js';

interface Place {
  readonly site: string;
  readonly name: string;
}

/**
 * @returns what the change uses up, and what to tell the work of the units: the override of every module and program that is wired to such a channel and whose unit works.
 * @throws Refusal 409 `active_batch`.
 */
export function passChannelGate({ site, name }: Place, before: IOModuleSpec, after: IOModuleSpec, read: StoreReader, terms: Terms): PassedGate {
  const isOther = (channel: string): boolean => {
    if (ioModuleOf(channel) !== name) return false;
    const key = channel.slice(name.length + 1);
    const was = channelOf(before, key);
    return was !== undefined && !isDeepStrictEqual(was, channelOf(after, key));
  };
  const modules = modulesNaming(read, site, name).filter((module) => {
    const resolved = resolvedModuleOf(read, module);
    return resolved?.ioModules.includes(name) && [...resolved.tags.map(({ channel }) => channel), ...addresses(resolved.blocks)].some(isOther);
  });
  const programs = read.list(ControlProgram, site).filter(({ metadata, spec }) => ownerOfProgram(metadata) === undefined && addresses(spec.blocks).some(isOther));
  const used = [...modules.flatMap((module) => usedUp(module, read, terms) ?? []), ...programs.flatMap((program) => programUsedUp(program, read, terms) ?? [])];
  const edit = { site, subject: `I/O module ${name}`, before: wiring(before), after: wiring(after) };
  return {
    puts: used.map(({ put }) => put),
    edits: editsOf(
      used.map(({ use }) => use),
      edit,
    ),
  };
}

/** What the logic sees of it: no options, which may hold secrets. */
function wiring({ protocol, enabled = true, channels }: IOModuleSpec): unknown {
  return { protocol, enabled, channels };
}

function addresses(blocks: readonly { readonly type: string; readonly params?: Readonly<Record<string, unknown>> }[]): string[] {
  return blocks.filter(({ type }) => CHANNEL_BLOCKS.includes(type)).map(({ params }) => String(params?.addr ?? ''));
}

/** What a channel is to the logic; undefined where there is none. A module that is switched off delivers nothing. */
function channelOf({ protocol, enabled = true, channels }: IOModuleSpec, key: string): unknown {
  const found = channels.find(({ name, address }) => address === key || name === key);
  if (!found) return undefined;
  const { pollInterval: _poll, description: _words, initial: _initial, name: _name, ...channel } = found;
  return { protocol, enabled, channel };
}
