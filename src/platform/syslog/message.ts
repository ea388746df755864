/**
 * Messages of syslog (RFC 5424) as they travel over TLS (RFC 5425): each with its length in octets before it. All of them are ASCII, in the text by the
 * escapes of JSON, so a character is an octet and no receiver has to ask for an encoding.
 */

/** RFC 5424, 6.2.1; `audit` is "log audit". */
export const FACILITIES = {
  auth: 4,
  authpriv: 10,
  audit: 13,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;
export type Facility = keyof typeof FACILITIES;

export const SEVERITIES = { error: 3, warning: 4, notice: 5, informational: 6 } as const;
export type Severity = keyof typeof SEVERITIES;

/** Who speaks: the same in every message of a box. */
export interface SyslogSource {
  readonly facility: Facility;
  readonly hostname: string;
  readonly appName: string;
  readonly procId: string;
  readonly deviceId: string;
}

export interface SyslogMessage {
  readonly severity: Severity;
  /** RFC 3339; '' where nobody knows. */
  readonly at: string;
  readonly msgId: string;
  /** Beside the id of the device. */
  readonly data: Readonly<Record<string, string | number>>;
  /** JSON. */
  readonly text: string;
}

/** Of the number that RFC 5612 sets aside: the product has none of its own. Receivers look for the whole of it. */
export const STRUCTURED_DATA_ID = 'lineside@32473';

const HOSTNAME_MAX = 255;
const APP_NAME_MAX = 48;
const PROC_ID_MAX = 128;

/** With the octet count before it (RFC 5425, 4.3). */
export function framed(source: SyslogSource, message: SyslogMessage): string {
  const text = syslogText(source, message);
  return `${text.length} ${text}`;
}

export function syslogText(source: SyslogSource, { severity, at, msgId, data, text }: SyslogMessage): string {
  const priority = FACILITIES[source.facility] * 8 + SEVERITIES[severity];
  const head = [at || '-', word(source.hostname, HOSTNAME_MAX), word(source.appName, APP_NAME_MAX), word(source.procId, PROC_ID_MAX), msgId].join(' ');
  const members = Object.entries({ ...data, deviceId: source.deviceId }).map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
  return `<${priority}>1 ${head} [${STRUCTURED_DATA_ID}${members.join('')}] ${asciiJson(text)}`;
}

export function isPrintableWord(text: string, lengthMax: number): boolean {
  return text.length >= 1 && text.length <= lengthMax && /^[!-~]+$/.test(text);
}

export function isAppName(text: string): boolean {
  return isPrintableWord(text, APP_NAME_MAX);
}

/** What is no name in printable ASCII is the nil value. */
function word(text: string, lengthMax: number): string {
  return isPrintableWord(text, lengthMax) ? text : '-';
}

function escaped(value: string): string {
  return value.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\\]]/g, '\\$&');
}

/** The same JSON in ASCII. */
export function asciiJson(json: string): string {
  return json.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
