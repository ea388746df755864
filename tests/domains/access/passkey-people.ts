/** People of a box that takes passkeys, for the tests of them. */
import { type Answer, type Client, clientOf, type GatewayTest, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { type SoftPasskey, softPasskey } from '../../support/passkey.js';

export const FACTOR = '/api/v1/auth/second-factor';
export const KEYS = `${FACTOR}/passkeys`;
export const NAME = 'hall-1.example';
export const MINUTE = 60_000;

export function start(settings: object = {}): Promise<GatewayTest> {
  return startGatewayTest({ settings: { publicName: 'Hall-1.example', ...settings } });
}

export function newKey(test: GatewayTest): SoftPasskey {
  return softPasskey(NAME, `https://${NAME}:${test.port}`);
}

export function login(test: GatewayTest, username: string, more: object = {}): Promise<Answer> {
  return test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD, ...more } });
}

export function signedIn(test: GatewayTest, username: string, answer: Answer): Client {
  if (answer.status !== 200) throw new Error(answer.text);
  return clientOf(test, username, answer.body.accessToken, answer.body.sessionId);
}

export async function begin(client: Client, more: object = {}): Promise<{ readonly challenge: string }> {
  const begun = await client.post(`${KEYS}/begin`, { password: PASSWORD, ...more });
  if (begun.status !== 200) throw new Error(begun.text);
  return begun.body;
}

/** What the box asks of a key, as it does beside the refusal. */
export async function asked(test: GatewayTest, username: string): Promise<{ readonly challenge: string }> {
  const { body } = await login(test, username);
  if (!body.passkey) throw new Error(JSON.stringify(body));
  return body.passkey;
}

interface Registered {
  readonly client: Client;
  readonly key: SoftPasskey;
  readonly recoveryCodes: readonly string[];
}

export async function registered(test: GatewayTest, username: string, groups: readonly string[] = ['operator']): Promise<Registered> {
  await makeAccount(test, username, groups);
  const client = signedIn(test, username, await login(test, username));
  const key = newKey(test);
  const made = await client.post(KEYS, { name: 'token', credential: key.make(await begin(client)) });
  if (made.status !== 201) throw new Error(made.text);
  return { client, key, recoveryCodes: made.body.recoveryCodes };
}
