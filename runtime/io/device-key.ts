/** Endpoints of one device in one spelling (ADR 0085). What only a name server or the device can tell is not judged here. Pure, without a Node API. */

const ENDPOINT = /^(?<scheme>[a-z+.]+:\/\/)?(?<host>\[[^\]]+\]|[^:/]*)(?<port>:\d+)?(?<path>\/.*)?$/;
const LOOPBACK = '127.0.0.1';
/** Addresses by which this computer calls itself: to connect to the one that means any is to connect to itself. */
const ITSELF: readonly string[] = ['localhost', '[::1]', '0.0.0.0', '[::]'];
const MAPPED = /^\[::ffff:(?<high>[0-9a-f]{1,4}):(?<low>[0-9a-f]{1,4})\]$/;

/** Of a host in one of the spellings of its address: `127.1`, `0x7f.0.0.1` and `[::ffff:127.0.0.1]` are one. */
function hostKey(text: string): string {
  const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`).hostname : text.toLowerCase();
  const host = url.replace(/\.$/, '');
  const { high, low } = MAPPED.exec(host)?.groups ?? {};
  const mapped = high === undefined || low === undefined ? host : fourBytes((Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16));
  return ITSELF.includes(mapped) ? LOOPBACK : mapped;
}

const fourBytes = (bits: number): string => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');

/** The path of a serial port without the steps that lead nowhere. */
function pathKey(text: string): string {
  const steps: string[] = [];
  for (const step of text.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return `/${steps.join('/')}`;
}

/** @param normalized of an address as its protocol gives it. A path behind a host names a service of the device that listens there. */
export function deviceKey(normalized: string): string {
  const { scheme = '', host, port = '', path } = ENDPOINT.exec(normalized)?.groups ?? {};
  if (host === undefined) return normalized;
  return host === '' ? `${scheme}${pathKey(path ?? '')}` : `${scheme}${hostKey(host)}${port}`;
}
