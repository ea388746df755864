/** The certificate by which OPC UA servers know this box: it is made once, for years, and servers refuse it when it has ended. */
import { X509Certificate } from 'node:crypto';
import path from 'node:path';
import { readPlainFile } from '../../platform/base/plain-file.js';
import type { Check, Finding } from '../check.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 90;
const CERTIFICATE_BYTES_MAX = 100_000;

export const opcuaIdentity: Check = {
  name: 'opcua-identity',
  look({ settings: { dataDir }, clock }) {
    const file = path.join(dataDir, 'opcua', 'identity', 'certificate.pem');
    const limit = `a certificate that holds for ${SOON_DAYS} days more`;
    try {
      const { validFrom, validTo } = new X509Certificate(readPlainFile(file, CERTIFICATE_BYTES_MAX));
      return judged(Date.parse(validFrom), Date.parse(validTo), clock.wallMs(), limit);
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT')
        return { verdict: 'ok', measured: 'none has been made', limit, meaning: 'it is made when the first OPC UA server is connected to', whatToDo: '' };
      return {
        verdict: 'fault',
        measured: `${file}: ${(fault as Error).message}`,
        limit,
        meaning: 'no OPC UA module with a security policy connects',
        whatToDo: 'put it back from a backup, or remove it: it is made anew from its key, and every server has to be told to trust it',
      };
    }
  },
};

function judged(fromMs: number, toMs: number, wallMs: number, limit: string): Finding {
  const days = Math.floor((toMs - wallMs) / DAY_MS);
  const isFit = fromMs <= wallMs && days >= SOON_DAYS;
  const isOver = fromMs > wallMs || days < 0;
  return {
    verdict: isFit ? 'ok' : isOver ? 'fault' : 'warning',
    measured: `valid from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()} (${days} days)`,
    limit,
    meaning: isFit ? 'OPC UA servers take it' : isOver ? 'OPC UA servers refuse it, or the clock of this box is wrong' : 'OPC UA servers will refuse it soon',
    whatToDo: isFit
      ? ''
      : 'look at the clock; then, when the line may stand, remove certificate.pem of the folder opcua/identity in the data directory: it is made anew from its key, and every server has to be told to trust it',
    figures: { days },
  };
}
