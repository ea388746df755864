/** Who calls: a token that was proven before against the whole look at it (goal: 20 times cheaper), for tokens of an identity provider by their algorithms. */
import { ecKey, edKey, LyingIssuer, rsaKey, startOidcTest, tokenOf } from '../support/lying-issuer.js';
import { least, tell, verdict } from './judge.js';

const ROUNDS = 5;
const TOKENS = 200;
const LOOKS = 100_000;
const GOAL = 20;

const keys = [rsaKey('rsa'), ecKey('ec'), edKey('ed')];
const issuer = await new LyingIssuer(keys).start();
const test = await startOidcTest(issuer.url);
const { authenticator } = test.access;
const now = Math.floor(test.clock.wallMs() / 1000);
let number = 0;

for (const key of keys) {
  const whole: number[] = [];
  const known: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const headers = Array.from({ length: TOKENS }, () => {
      number += 1;
      return `Bearer ${tokenOf(key, { iss: issuer.url, aud: 'lineside', sub: `sub-${number}`, sid: `s-${number}`, groups: ['lineside-operator'], iat: now, exp: now + 600 })}`;
    });
    await authenticator.prove(headers[0]); // the keys are there
    let fromMs = performance.now();
    for (const header of headers.slice(1)) authenticator.authenticate(header, await authenticator.prove(header));
    whole.push(((performance.now() - fromMs) * 1000) / (TOKENS - 1));
    fromMs = performance.now();
    for (let look = 0; look < LOOKS; look += 1) authenticator.authenticate(headers[1 + (look % (TOKENS - 1))]);
    known.push(((performance.now() - fromMs) * 1000) / LOOKS);
  }
  const times = least(whole) / least(known);
  tell(`known token, ${key.alg}, times cheaper`, times);
  console.log(
    `${key.alg}: whole look ${least(whole).toFixed(1)} us, known token ${least(known).toFixed(2)} us: ${times.toFixed(0)} times cheaper (goal ${GOAL}) ${verdict(times >= GOAL)}`,
  );
}
await test.stop();
await issuer.stop();
