/**
 * G21: verdicts of Project Wycheproof (tests/fixtures/wycheproof) by the way that tokens of an identity provider go: the form of the token, its
 * algorithm, and the keys as they are served, over a store of the product.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { IssuerKeys } from '../../../src/domains/access/issuer/issuer-keys.js';
import { formOf, publicKeysOf } from '../../../src/domains/access/jws.js';
import { isWeak } from '../../../src/domains/access/weak-keys.js';
import type { Store } from '../../../src/platform/store/store.js';
import { TestClock } from '../../support/test-clock.js';

interface Group {
  readonly comment: string;
  readonly keys: readonly Readonly<Record<string, unknown>>[];
  readonly tests: readonly (readonly [id: number, comment: string, result: 'valid' | 'invalid', jws: string])[];
}

const groupsOf = (name: string): readonly Group[] => JSON.parse(readFileSync(`tests/fixtures/wycheproof/${name}_test.json`, 'utf8')).testGroups;

/** Nothing is stored, and nothing was. */
const NO_STORE = { accepting: false, get: () => undefined } as Partial<Store> as Store;

async function isVouchedFor(keys: Group['keys'], jws: string): Promise<boolean> {
  const clock = new TestClock();
  const issuer = new IssuerKeys({
    store: NO_STORE,
    clock,
    time: { now: () => ({ wallMs: clock.wallMs(), monoMs: clock.monoMs() }), synchronised: () => true } as never,
    issuer: 'https://issuer.example',
    fetch: () => Promise.resolve({ keys }),
  });
  await issuer.refetch().catch(() => undefined); // a set without a usable key is refused as a whole
  const formed = formOf(jws);
  return formed !== undefined && issuer.vouchFor({ token: jws, header: formed.header, claims: {} });
}

interface Verdicts {
  readonly accepted: Readonly<Record<string, number>>;
  readonly refusedInvalid: number;
  /** Comments of what is valid and refused. */
  readonly refusedValid: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
}

async function verdictsOn(groups: readonly Group[]): Promise<Verdicts> {
  const [accepted, refusedValid, wrong]: [Record<string, number>, Record<string, number>, string[]] = [{}, {}, []];
  let refusedInvalid = 0;
  const count = (of: Record<string, number>, name: string): void => {
    of[name] = (of[name] ?? 0) + 1;
  };
  for (const { comment, keys, tests } of groups)
    for (const [id, about, result, jws] of tests) {
      const alg = formOf(jws)?.header.alg ?? 'no form';
      if (await isVouchedFor(keys, jws)) {
        if (result === 'invalid') wrong.push(`${id} ${comment} ${about}`);
        else count(accepted, alg);
      } else if (result === 'invalid') refusedInvalid += 1;
      else count(refusedValid, String(keys[0]?.alg) === alg || alg === 'no form' ? alg : `${alg} on a key for ${String(keys[0]?.alg)}`);
    }
  return { accepted, refusedInvalid, refusedValid, wrong };
}

t.test('G21, D-AUTH-04: of 401 signatures no invalid one is accepted, and each valid one by an accepted algorithm in the one spelling', async (t) => {
  t.same(await verdictsOn(groupsOf('json_web_signature')), {
    accepted: { ES256: 2, RS256: 7, RS384: 3, RS512: 3, PS256: 5, PS384: 3, PS512: 3 },
    refusedInvalid: 355,
    // by rule: shared secrets are taken from nobody, a key serves what it says it is for, and a token has claims
    refusedValid: { HS256: 8, 'PS384 on a key for PS256': 2, 'ES512 on a key for ES521': 2, 'no form': 8 },
    wrong: [],
  });
});

t.test('G21: of 26 key sets no invalid one vouches for anything: mixed with secrets, of weak RSA keys, of keys for something else', async (t) => {
  t.same(await verdictsOn(groupsOf('json_web_key')), { accepted: { RS256: 1 }, refusedInvalid: 21, refusedValid: { HS256: 2, HS384: 1, HS512: 1 }, wrong: [] });
});

t.test('D-AUTH-04: an RSA key with which anybody could sign is no key: exponent 1, 3, even or huge, and a modulus of a broken generator', async (t) => {
  const weak = groupsOf('json_web_key').filter(({ comment }) => /roca|exponent/i.test(comment));
  for (const { comment, keys } of weak) t.same(publicKeysOf({ keys }), [], comment);
  const [good] = groupsOf('json_web_signature').flatMap(({ keys }) => keys.filter(({ kty }) => kty === 'RSA'));
  t.equal(isWeak({ kty: 'RSA', ...good }), false);
  for (const e of ['AQ', 'Aw', 'AQAA', '', undefined, Buffer.alloc(33, 0xff).toString('base64url')])
    t.equal(isWeak({ ...good, kty: 'RSA', ...(e === undefined ? { e: 1 as never } : { e }) }), true, `exponent ${e}`);
  t.equal(isWeak({ kty: 'EC' }), false);
});
