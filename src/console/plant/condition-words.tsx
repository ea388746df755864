/** What a chart waits for, in words: the value, what it has to be, in what it is measured, how long so far, which signal and from whom. */
import { tagList } from '../data/plant.js';
import type { ConditionPart } from '../data/types.js';
import { t, words } from '../common/strings.js';
import { lengthText } from '../common/length-text.js';
import { numberText, readingText, recordText, unitText } from '../common/text.js';

type Sides = NonNullable<ConditionPart['sides']>;
type Side = Sides['left'];

const said = words({
  en: {
    signal: (name: string, from: string) => (from === '' ? `Signal “${name}”` : `Signal “${name}” from ${from}`),
    barrier: (name: string, from: string) => (from === '' ? `Meeting “${name}”` : `Meeting “${name}” of ${from}`),
    time: (step: string) => `Time in ${step}`,
    step: (step: string, isActive: boolean) => `Step ${step} is ${isActive ? '' : 'not '}active`,
    stepEnds: 'goes on when it is not',
    stepBegins: 'goes on when it is',
    gone: 'goes on when it is gone',
    unknown: 'no value',
    has: 'has come',
    hasNot: 'has not come yet',
    of: (now: string, whole: string) => `${now} of ${whole}`,
    signs: { '<': 'below', '>': 'above', '<=': 'at most', '>=': 'at least', '=': '', '<>': 'not' } as Readonly<Record<string, string>>,
    at: (sign: string, value: string) => `goes on when it is ${sign === '' ? value : `${sign} ${value}`}`,
    quoted: (text: string) => `“${text}”`,
    bools: { TRUE: 'yes', FALSE: 'no' } as Readonly<Record<string, string>>,
  },
  de: {
    signal: (name: string, from: string) => (from === '' ? `Signal „${name}“` : `Signal „${name}“ von ${from}`),
    barrier: (name: string, from: string) => (from === '' ? `Treffpunkt „${name}“` : `Treffpunkt „${name}“ von ${from}`),
    time: (step: string) => `Zeit in ${step}`,
    step: (step: string, isActive: boolean) => `Schritt ${step} ist ${isActive ? '' : 'nicht '}aktiv`,
    stepEnds: 'weiter, wenn er es nicht mehr ist',
    stepBegins: 'weiter, wenn er es ist',
    gone: 'weiter, wenn es weg ist',
    unknown: 'kein Wert',
    has: 'ist da',
    hasNot: 'ist noch nicht da',
    of: (now: string, whole: string) => `${now} von ${whole}`,
    signs: { '<': 'unter', '>': 'über', '<=': 'höchstens', '>=': 'mindestens', '=': '', '<>': 'anderem als' } as Readonly<Record<string, string>>,
    at: (sign: string, value: string) => `weiter bei ${sign === '' ? value : `${sign} ${value}`}`,
    quoted: (text: string) => `„${text}“`,
    bools: { TRUE: 'ja', FALSE: 'nein' } as Readonly<Record<string, string>>,
  },
});

/** Undefined for what is no comparison: its text is all there is to say. */
export function conditionWords({ sides }: Pick<ConditionPart, 'sides'>): string | undefined {
  if (!sides) return undefined;
  const { left, operator, right } = turned(sides);
  const isWanted = (right.value === 'TRUE') === (operator === '=');
  if (left.what === 'signal' || left.what === 'barrier') {
    const from = left.from?.map(({ path, unit }) => (unit === '' ? path : `${unit.toUpperCase()} (${path})`)).join(', ') ?? '';
    return `${said[left.what](left.name ?? '', from)} ${left.value === 'TRUE' ? said.has : said.hasNot}${isWanted ? '' : `, ${said.gone}`}`;
  }
  if (left.what === 'step') return `${said.step(left.name ?? '', left.value === 'TRUE')}, ${isWanted ? said.stepBegins : said.stepEnds}`;
  if (left.what === 'time' && operator.startsWith('>')) return `${said.time(left.name ?? '')}: ${said.of(shown(left, right), shown(right, left))}${madeOf(right)}`;
  return `${nameOf(left)} ${shown(left, right)}, ${said.at(said.signs[operator] ?? operator, `${shown(right, left)}${madeOf(right)}`)}`;
}

const TURNED: Readonly<Record<Sides['operator'], Sides['operator']>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=', '=': '=', '<>': '<>' };

/** What changes stands first: `T#5s <= fill.T` is told as `fill.T >= T#5s`. */
function turned({ left, operator, right }: Sides): Sides {
  const isTurned = (left.what === 'value' && right.what !== 'value') || (right.what === 'time' && left.what !== 'time');
  return isTurned ? { left: right, operator: TURNED[operator], right: left } : { left, operator, right };
}

/** `TIC101.PV`; what is computed is told as it was written. */
function nameOf({ what, name, address, text }: Side): string {
  if (what === 'time') return said.time(name ?? '');
  if (what === 'tag' && address !== undefined) return address.toUpperCase();
  return name ?? text;
}

/** Where a limit comes from, so that who set it finds it. */
function madeOf({ what, text }: Side): string {
  return what === 'value' ? '' : ` (${text})`;
}

/** In the unit of measure of either side. */
function shown(side: Side, other: Side): string {
  const { value, type } = side;
  if (value === undefined) return said.unknown;
  if (type === 'TIME') return lengthText(Number(value));
  if (type === 'BOOL') return said.bools[value] ?? value;
  const number = Number(value);
  if (type === 'STRING') return said.quoted(value); // letter by letter: a lot may be called as a state is
  if (Number.isNaN(number)) return value;
  // what was given is shown as it was given; what is measured as a screen shows it
  const text = side.what === 'tag' ? numberText(number, undefined) : side.what === 'computed' ? readingText(number) : recordText(value, true);
  return `${text} ${unitText(measured(side) || measured(other))}`.trim();
}

function measured({ engUnits, unit, address }: Side): string {
  return engUnits ?? tagList.value.find((tag) => tag.unit === unit && tag.address === address)?.engUnits ?? '';
}

/** The words, and beside them the text as the engineer wrote it. */
export function PartLine({ part }: { readonly part: ConditionPart }) {
  const { expression, met, now, asTold } = part;
  const worded = conditionWords(part);
  return (
    <li data-testid="sub-condition" data-met={String(met)} data-told={String(asTold === true)}>
      <span aria-hidden="true">{asTold ? '?' : met ? '✓' : '✗'}</span>
      <span class="visually-hidden">
        {asTold ? `${t.lastTold} ` : ''}
        {met ? t.met : t.notMet}:{' '}
      </span>{' '}
      {worded !== undefined && <span data-testid="condition-words">{worded} </span>}
      <code class="mono hint">{expression}</code>{' '}
      {now !== undefined && (asTold || worded === undefined) && <span class="number">{asTold ? `${t.lastTold} ${now}` : t.conditionNow(now)}</span>}
    </li>
  );
}
