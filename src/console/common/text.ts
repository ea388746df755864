/** Numbers and times as the screen shows them. */
import { boxNowMs } from '../data/box-clock.js';
import { locale } from './language.js';
import { t } from './strings.js';

const SIGNIFICANT = 4;
/** What a single-precision number holds. */
const READING_DIGITS = 7;
const DECIMAL = /^[+-]?\d+\.\d+$/;
/** Digits behind the sign for a declared range below one. */
const FRACTION_MAX = 6;
/** Made when it is first needed: each takes a while, and the start of a page needs few of them. */
function lazily(make: () => Intl.DateTimeFormat): () => Intl.DateTimeFormat {
  let made: Intl.DateTimeFormat | undefined;
  return () => (made ??= make());
}
const time = lazily(() => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }));
const dayAndTime = lazily(() => new Intl.DateTimeFormat(locale, { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }));

const minute = lazily(() => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }));

/** Of a forecast, which is no more exact, and of the next hours, whose day nobody asks for. */
export function minuteText(timestamp: string): string {
  return withZone(minute().format(new Date(timestamp)), new Date(timestamp));
}

export function clockText(atMs: number): string {
  return withZone(time().format(atMs), new Date(atMs));
}

const HOUR_MS = 3_600_000;

/** In the night in which summer time ends an hour comes twice: what happened in one of them is told with the zone. */
function withZone(text: string, at: Date): string {
  const isTwice = [-HOUR_MS, HOUR_MS].some((apartMs) => new Date(at.getTime() + apartMs).getHours() === at.getHours());
  return isTwice ? `${text} ${zoneText(at.toISOString())}` : text;
}

/** Empty for an empty timestamp; the day is named when it is not today, and the year when it is not this one. */
export function momentText(timestamp: string): string {
  if (timestamp === '') return '';
  const at = new Date(timestamp);
  const now = new Date(boxNowMs());
  const form = at.toDateString() === now.toDateString() ? time : at.getFullYear() === now.getFullYear() ? dayAndTime : whole;
  return withZone(form().format(at), at);
}

const whole = lazily(
  () => new Intl.DateTimeFormat(locale, { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
);

/** With the year, for what is looked at years later. */
export function fullMomentText(timestamp: string): string {
  return timestamp === '' ? '' : withZone(whole().format(new Date(timestamp)), new Date(timestamp));
}

const exact = lazily(
  () =>
    new Intl.DateTimeFormat(locale, {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hourCycle: 'h23',
    }),
);

/** With the milliseconds, for what may come several times in a second. */
export function preciseMomentText(timestamp: string): string {
  return withZone(exact().format(new Date(timestamp)), new Date(timestamp));
}

const zone = lazily(() => new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }));

/** In which the page shows its times: that of the person who reads. */
export function zoneText(timestamp: string): string {
  return (
    zone()
      .formatToParts(new Date(timestamp))
      .find(({ type }) => type === 'timeZoneName')?.value ?? ''
  );
}

/** What a field of date and time holds, as an instant; empty for none, or half of one. */
export function instantOf(local: string): string {
  const at = Date.parse(local);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

/** The moment as a field of date and time holds it: of the panel's own time zone, to the second. */
export function localText(wallMs: number): string {
  const ofZoneMs = new Date(wallMs).getTimezoneOffset() * 60_000;
  return new Date(wallMs - ofZoneMs).toISOString().slice(0, 19);
}

/** A steady number of digits, so that a value that moves does not jump about. @param span of its declared range; one below 1 has the digits it needs. */
export function numberText(value: number, span: number | undefined): string {
  const isSmall = span !== undefined && span > 0 && span < 1;
  const size = isSmall ? span : Math.max(Math.abs(span ?? value), 1);
  const digits = Math.min(isSmall ? FRACTION_MAX : 2, Math.max(0, SIGNIFICANT - 1 - Math.floor(Math.log10(size))));
  const shown = Number(value.toFixed(digits)) + 0; // noise around zero has no sign
  return formatOf(digits).format(shown);
}

/** By the digits behind the sign: one that is made for each value costs more than all else of a value that moves. */
const formats: Intl.NumberFormat[] = [];
function formatOf(digits: number): Intl.NumberFormat {
  return (formats[digits] ??= new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }));
}

/**
 * A value as it is recorded, with every letter and digit of it: what is signed is what is shown. Only what is declared a
 * number takes the decimal sign of its reader; a lot or a sample that happens to look like one is a text.
 */
export function recordText(text: string, isNumber: boolean): string {
  return isNumber && DECIMAL.test(text) ? text.replace('.', decimalSign()) : text;
}

/** A number that decides something, or one moment of a curve: whole numbers whole, the others as exact as an instrument is. */
export function readingText(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString(locale, { maximumFractionDigits: 0, useGrouping: false });
  const whole = Math.max(0, Math.floor(Math.log10(Math.abs(value))) + 1);
  return value.toLocaleString(locale, { maximumSignificantDigits: Math.max(READING_DIGITS, whole + 2), useGrouping: false });
}

/** A measured value in a sentence: as the screen shows it, and more exactly where that would not tell it from `limit`, which it is judged by. */
export function measuredText(value: number, limit = Number.NaN): string {
  const text = numberText(value, undefined);
  const isHidden = Number.isFinite(limit) && value !== limit && text === numberText(limit, undefined);
  return isHidden || Number.isInteger(value) ? readingText(value) : text;
}

/** `30m`, `2h`, `400d` as people write it. */
export function durationText(duration: string): string {
  return duration.replace('m', ' min').replace('h', ' h').replace('d', ' d');
}

/** A length of time in one unit. */
export function secondsText(seconds: number): string {
  return ageText(0, seconds * 1000);
}

export function ageText(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds} ${t.ago.s}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} ${t.ago.min}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} ${t.ago.h}`;
  return `${Math.floor(seconds / 86_400)} ${t.ago.d}`;
}

let sign = '';
/** What stands before the fraction of a number. */
export function decimalSign(): string {
  return (sign ||= (0.5).toLocaleString(locale).charAt(1));
}

/** What every page needs at its start and what takes the browser long to make the first time: each is a task of its own before the page is drawn. */
export const FORMATS: readonly (() => void)[] = [() => void 'a'.localeCompare('b'), () => void formatOf(1), () => void time()];

/** Units of measure as people write them. */
export function unitText(unit: string): string {
  return unit
    .replace(/^deg([CFK])/, '°$1')
    .replace('m3', 'm³')
    .replace('mPa.s', 'mPa·s');
}

/** A number typed by a person: comma or point. Undefined when it is none. */
export function typedNumber(text: string): string | undefined {
  const plain = text.trim().replace(',', '.');
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? plain : undefined;
}
