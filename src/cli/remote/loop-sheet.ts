/** The sheet of a loop check as people read and print it. */
import type { Answered } from '../../client/typed.js';
import { shownValue } from './channels.js';
import { section, table } from './outcome.js';
import { plainLine } from './plain.js';
import { type ShownSignature, signatureLine, validLine } from './sheets.js';

export type LoopSheet = Answered<'/api/v1/sites/{site}/iomodules/{name}/loop-checks/{id}', 'get'>;
export type LoopChannel = LoopSheet['channels'][number];
export type LoopStep = LoopChannel['steps'][number];
type LoopReading = LoopStep['readings'][number];

/** What was found of one output. */
const OUTCOMES: Readonly<Record<LoopChannel['outcome'], string>> = {
  pass: 'every reading agrees, in time and at rest',
  'wrong-channel': 'another channel moves in its place: look at the terminals and the offset of the address',
  inverted: 'the reading falls where it should rise: look for a contact or a positioner that is turned round',
  scaled: 'the reading is a straight line of another slope or origin: look at the raw range, the decimal point and the unit of the transmitter',
  stuck: 'it does not move, whatever is written: look at power, air, fuse and cable',
  'no-readback': 'nothing shows what the device has: give a readbackAddress, or the input that is wired to it',
  slow: 'it agrees later than the settle time: look at the actuator, or give it more time',
  noisy: 'it does not stand still: look at shield and ground',
  deviates: 'it moves, and along no straight line: look for an end stop or a characteristic',
  'not-checked': 'the check ended before it was gone through',
};

const WHOLE: Readonly<Record<LoopSheet['outcome'], string>> = {
  pass: 'PASS: every output agrees',
  fault: 'FAULT',
  incomplete: 'INCOMPLETE: not every output was gone through',
};

const ENDS: Readonly<Record<NonNullable<LoopSheet['end']>['reason'], string>> = {
  complete: 'it came to its end',
  aborted: 'it was aborted',
  unattended: 'nobody gave a sign',
  'unit-at-work': 'a unit behind the module was taken for work',
  'automatic-mode': 'a control module went to Automatic',
  'module-changed': 'the module was changed',
  'outputs-withheld': 'the outputs were withheld',
  'device-lost': 'the device was lost',
  'hold-lost': 'the probe had no sign of the gateway',
  'fail-safe-taken': 'the fail-safe values were taken, and stand at the outputs',
  'not-taken': 'the device did not take a value',
  'not-recorded': 'nothing could be written down',
  altered: 'its row was changed past the product: nothing was driven out of it',
  restart: 'the gateway was started again',
  shutdown: 'the gateway was stopped',
};

/** A raw value as it was set or seen: the words of a truth value where it is one. */
export function rawOf({ dataType }: Pick<LoopChannel, 'dataType'>, value: string | number | boolean | null): string {
  return dataType === 'bool' && typeof value === 'number'
    ? value === 0
      ? 'FALSE'
      : value === 1
        ? 'TRUE'
        : String(value)
    : typeof value === 'boolean'
      ? String(value).toUpperCase()
      : shownValue(value);
}

export function stepTitle(channel: LoopChannel, { percent, commanded }: Pick<LoopStep, 'percent' | 'commanded'>): string {
  return `${channel.channel} ${rawOf(channel, commanded)}${percent === undefined ? '' : ` (${percent} %)`}`;
}

/** `read-back input:0 shows 500, as expected, after 120 ms`. */
export function readingLine(channel: LoopChannel, { source, channel: name, expected, value, agrees, settledMs, spread }: LoopReading): string {
  const what = source === 'readback' ? 'read-back' : source === 'input' ? 'input' : 'output itself';
  if (value === null) return `${what} ${name} shows nothing: expected ${rawOf(channel, expected)}`;
  const shown = rawOf(channel, value);
  const seen = agrees ? `${shown}, as expected${settledMs === null ? '' : `, after ${Math.round(settledMs)} ms`}` : `${shown} in place of ${rawOf(channel, expected)}`;
  return `${what} ${name} shows ${seen}${spread > 0 && channel.dataType !== 'bool' ? `, to and fro ${shownValue(spread)}` : ''}`;
}

export function verdictLine({ channel, outcome, message, moved, factor, offset }: LoopChannel): string {
  const line =
    factor === undefined
      ? ''
      : `; reading = ${shownValue(factor)} · expected${offset === undefined || offset === 0 ? '' : ` ${offset < 0 ? '-' : '+'} ${shownValue(Math.abs(offset))}`}`;
  const also = moved.length === 0 ? '' : `; with it moved ${moved.join(', ')}`;
  return `${channel}: ${outcome}, ${message === '' ? OUTCOMES[outcome] : `${message}${outcome === 'pass' || outcome === 'not-checked' ? '' : `; ${afterColon(OUTCOMES[outcome])}`}`}${line}${also}`;
}

/** What to look at. */
const afterColon = (text: string): string => text.slice(text.indexOf(': ') + 2);

export function wholeLine({ outcome, channels, end }: LoopSheet): string {
  const faulty = channels.filter((channel) => channel.outcome !== 'pass' && channel.outcome !== 'not-checked').length;
  const how = outcome === 'fault' ? `: ${faulty} of ${channels.length} outputs ${faulty === 1 ? 'has' : 'have'} one` : '';
  const why = end === null || end.reason === 'complete' ? '' : `; ${endLine(end)}`;
  return `${WHOLE[outcome]}${how}${why}`;
}

export function endLine({ reason, message, by }: NonNullable<LoopSheet['end']>): string {
  return `${ENDS[reason]}${by === '' ? '' : ` (${by})`}${message === '' ? '' : `: ${message}`}`;
}

/** What became of the outputs that were set. */
export function returnedLines({ returned, channels }: Pick<LoopSheet, 'returned' | 'channels'>): readonly string[] {
  return returned.map(({ channel, value, isReturned, message = '' }) => {
    const type = channels.find((each) => each.channel === channel) ?? { dataType: 'float' as const };
    const stands = isReturned !== true ? 'is NOT back at' : message === '' ? 'is back at' : 'is at'; // logic commands it, whatever it had before
    return `${channel} ${stands} ${rawOf(type, value)}${message === '' ? '' : `: ${message}`}`;
  });
}

/** Of one output: each step with what was expected and seen. */
function stepsTable(channel: LoopChannel): string {
  const rows = channel.steps.flatMap((step) => {
    const head = [String(step.step), stepTitle(channel, step).slice(channel.channel.length + 1), step.at, step.confirmedBy];
    const readings = step.readings.map(({ source, channel: name, expected, value, settledMs, spread, agrees }) => [
      `${source} ${name}`,
      rawOf(channel, expected),
      rawOf(channel, value),
      settledMs === null ? '-' : `${Math.round(settledMs)} ms`,
      channel.dataType === 'bool' ? '' : shownValue(spread),
      agrees ? 'yes' : 'NO',
    ]);
    const [first = [], ...others] = readings;
    return [[...head, ...first], ...others.map((row) => ['', '', '', '', ...row]), ...(step.note === '' ? [] : [['', `note: ${step.note}`]])];
  });
  return table(['step', 'set', 'at', 'confirmed by', 'seen by', 'expected', 'shown', 'after', 'spread', 'agrees'], rows);
}

const indented = (text: string): readonly string[] => text.split('\n');

export function sheetText(sheet: LoopSheet, signatures: readonly ShownSignature[]): string {
  const { id, site, phase, module, protocol, address, moduleGeneration, operator, reason, startedAt, attend, attendTimeoutMs, settleMs, tolerance, neighbours, end, channels } =
    sheet;
  const how = attend === 'confirm' ? `each step confirmed within ${attendTimeoutMs / 1000} s` : `going on while a person gives a sign every ${attendTimeoutMs / 1000} s`;
  const ranges = channels.map((channel) => [
    channel.channel,
    channel.address,
    channel.dataType === 'bool' ? 'FALSE, TRUE' : `${shownValue(channel.low)} to ${shownValue(channel.high)}`,
    channel.input ? `${channel.input.module === module ? '' : `${channel.input.module}:`}${channel.input.channel}` : '-',
    channel.outcome,
  ]);
  return [
    `loop check ${id}`,
    '',
    `module     ${module} of site ${site}: ${protocol} ${address}, generation ${moduleGeneration}`,
    `reason     ${plainLine(reason)}`,
    `conducted  by ${operator.displayName} from ${startedAt}${end === null ? '' : ` to ${end.at}`}`,
    `settings   settle ${settleMs} ms, tolerance ${tolerance} % of the range, ${how}`,
    ...(neighbours.length === 0 ? [] : [`watched    ${neighbours.join(', ')} beside it`]),
    `outcome    ${phase === 'Sealed' ? wholeLine(sheet) : `none yet: it is ${phase}`}`,
    ...(end === null ? [] : [`end        ${endLine(end)}`]),
    ...section('outputs:', indented(table(['output', 'address', 'range', 'input', 'outcome'], ranges))),
    ...(phase === 'Sealed' ? section('found:', channels.map(verdictLine)) : []),
    ...channels.flatMap((channel) => (channel.steps.length === 0 ? [] : section(`${channel.channel} (${channel.address}):`, indented(stepsTable(channel))))),
    ...section('outputs afterwards:', returnedLines(sheet)),
    ...section('signatures:', signatures.map(signatureLine)),
    '',
    validLine(sheet),
  ].join('\n');
}
