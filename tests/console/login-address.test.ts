/** Where a login leads, without a browser: a link that was sent to somebody must not carry him off to another host. */
import t from 'tap';
import { pageModule } from './page-module.js';

interface LoginAddress {
  localTarget(asked: string | null, origin: string): string;
}

const ORIGIN = 'https://box.example:8443';

t.test('Q-AUTH-01: a login leads to a page of this box only', async (t) => {
  const { localTarget } = await pageModule<LoginAddress>('data/login-address.ts');
  // whoever follows the answer reads it as an address of its own: `//host` is another host by then
  const FOREIGN = [
    '//elsewhere.example/hmi',
    '/.//elsewhere.example/hmi',
    '/x/..//elsewhere.example/hmi',
    '/%2e//elsewhere.example/hmi',
    '/.\\/elsewhere.example/hmi',
    '/\t/elsewhere.example',
    '/.\n//elsewhere.example',
    'https://elsewhere.example',
    'javascript:alert(1)',
    '/login?redirect=/.//elsewhere.example',
    '/./login',
  ];
  for (const asked of FOREIGN) t.equal(localTarget(asked, ORIGIN), '/hmi', JSON.stringify(asked));
  for (const asked of FOREIGN) t.equal(new URL(localTarget(asked, ORIGIN), ORIGIN).origin, ORIGIN, `${JSON.stringify(asked)} stays here`);
  for (const asked of ['/hmi', '/hmi?x=1#/batches/b-1', '/data', '/hmi?next=//elsewhere.example']) t.equal(localTarget(asked, ORIGIN), asked);
});
