/** Numbers and times as the screen shows them. */
import { boxNowMs } from '../data/box-clock.js';
import { language, t } from './strings.js';

const SIGNIFICANT = 4;
/** What a single-precision number holds. */
const READING_DIGITS = 7;
const DECIMAL = /^[+-]?\d+\.\d+$/;
/** Digits behind the sign for a declared range below one. */
const FRACTION_MAX = 6;
const time = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const dayAndTime = new Intl.DateTimeFormat(language, { month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

export function clockText(atMs: number): string {
  return time.format(atMs);
}

/** Empty for an empty timestamp; the day is named when it is not today. */
export function momentText(timestamp: string): string {
  if (timestamp === '') return '';
  const at = new Date(timestamp);
  return at.toDateString() === new Date(boxNowMs()).toDateString() ? time.format(at) : dayAndTime.format(at);
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
  return shown.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
}

/**
 * A value as it is recorded, with every letter and digit of it: what is signed is what is shown. Only what is declared a
 * number takes the decimal sign of its reader; a lot or a sample that happens to look like one is a text.
 */
export function recordText(text: string, isNumber: boolean): string {
  return isNumber && DECIMAL.test(text) ? text.replace('.', decimalSign) : text;
}

/** A number that decides something, or one moment of a curve: whole numbers whole, the others as exact as an instrument is. */
export function readingText(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString(language, { maximumFractionDigits: 0, useGrouping: false });
  const whole = Math.max(0, Math.floor(Math.log10(Math.abs(value))) + 1);
  return value.toLocaleString(language, { maximumSignificantDigits: Math.max(READING_DIGITS, whole + 2), useGrouping: false });
}

/** `30m`, `2h` as people write it. */
export function durationText(duration: string): string {
  return duration.replace('m', ' min').replace('h', ' h');
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

/** What stands before the fraction of a number. */
export const decimalSign = (0.5).toLocaleString(language).charAt(1);

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
