/** Numbers and times as the screen shows them. */
import { boxNowMs } from '../data/box-clock.js';
import { language, t } from './strings.js';

const SIGNIFICANT = 4;
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

/** A steady number of digits, so that a value that moves does not jump about. */
export function numberText(value: number, span: number | undefined): string {
  const size = Math.max(Math.abs(span ?? value), 1);
  const digits = Math.min(2, Math.max(0, SIGNIFICANT - 1 - Math.floor(Math.log10(size))));
  const shown = Number(value.toFixed(digits)) + 0; // noise around zero has no sign
  return shown.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
}

/** A value that came as text: a number with the digits a person reads, anything else as it is. */
export function valueText(text: string): string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value.toLocaleString(language, { maximumSignificantDigits: SIGNIFICANT, useGrouping: false }) : text;
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
