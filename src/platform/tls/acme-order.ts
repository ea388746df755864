/** One order of a certificate from an ACME server (RFC 8555), with the library that is loaded for it alone. */
import { Agent, request } from 'node:https';
import type { Log } from '../base/log.js';
import { readDataFile } from '../base/data-file.js';
import type { Clock } from '../base/clock.js';
import { readOutsideFile } from '../base/outside-file.js';
import type { Challenges, ChallengeWish } from './acme-challenges.js';
import { ownFile, writeOwn } from './own-files.js';

export interface AcmeOrder {
  readonly dataDir: string;
  readonly directory: string;
  /** The first one is the subject. */
  readonly domains: readonly string[];
  readonly email: string | null;
  readonly caFile: string | null;
  readonly challenge: Challenges;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

const CA_BYTES_MAX = 1024 ** 2;
const REQUEST_MS_MAX = 60_000;
const WAY_OUT = 'move it away: a new account is made then';

/** @returns key and chain in one PEM text. @throws an Error that says what failed. */
export async function orderCertificate({ dataDir, directory, domains, email, caFile, challenge, clock, log }: AcmeOrder): Promise<string> {
  const acme = await import('acme-client');
  acme.axios.defaults.timeout = REQUEST_MS_MAX;
  acme.axios.defaults.proxy = false;
  const { acmeSettings } = acme.axios.defaults as { readonly acmeSettings?: { retryMaxAttempts: number } };
  if (acmeSettings) acmeSettings.retryMaxAttempts = 1; // who asks for a certificate tries again by himself
  const agent = new Agent(caFile === null ? {} : { ca: await readOutsideFile(caFile, CA_BYTES_MAX, { clock }) });
  acme.axios.defaults.httpsAgent = agent;
  await reached(directory, agent);
  const client = new acme.Client({ directoryUrl: directory, accountKey: await accountKey(dataDir, () => acme.crypto.createPrivateEcdsaKey('P-256')) });
  const [key, csr] = await acme.crypto.createCsr({ commonName: domains[0] ?? '', altNames: [...domains] }, await acme.crypto.createPrivateEcdsaKey('P-256'));
  const wishOf = (domain: string, { token }: { readonly token: string }, value: string): ChallengeWish => ({ domain, token, value });
  const chain = await client.auto({
    csr,
    ...(email === null ? {} : { email }),
    termsOfServiceAgreed: true,
    challengePriority: [challenge.type],
    skipChallengeVerification: true, // the box may not be able to ask itself by that name
    async challengeCreateFn({ identifier }, told, value) {
      if (told.type !== challenge.type) throw new Error(`the ACME server offers ${told.type} for ${identifier.value}, and gateway.tls.acme.challenge is ${challenge.type}`);
      await challenge.add(wishOf(identifier.value, told, value));
    },
    async challengeRemoveFn({ identifier }, told, value) {
      await challenge
        .remove(wishOf(identifier.value, told, value))
        .catch((fault: unknown) => log.warn({ domain: identifier.value, fault: (fault as Error).message }, 'a challenge of ACME stays behind'));
    },
  });
  return `${key.toString('latin1').trim()}\n${chain}`;
}

/** The library does not say why nobody was reached. @throws an Error that says it. */
function reached(directory: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`the ACME server ${directory} does not answer (${why})`));
    const asked = request(directory, { agent, timeout: REQUEST_MS_MAX }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else fail(`HTTP ${answer.statusCode}`);
    });
    asked.once('timeout', () => asked.destroy(new Error(`nothing came for ${REQUEST_MS_MAX / 1000} s`)));
    asked.once('error', (fault) => fail(fault.message));
    asked.end();
  });
}

/** The account is whoever has its key; made with the first order. */
async function accountKey(dataDir: string, make: () => Promise<Buffer>): Promise<Buffer> {
  const file = ownFile(dataDir, 'acme-account.pem');
  const there = readDataFile(file, WAY_OUT);
  if (there) return there;
  const key = await make();
  writeOwn(file, key.toString('latin1'));
  return key;
}
