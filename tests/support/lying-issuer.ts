/**
 * An identity provider on loopback that says whatever a test wants: discovery, keys, a token endpoint. It signs with the cryptography of Node alone, so
 * that what the gateway verifies was not made by the library that verifies it.
 */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TestClock } from './test-clock.js';
import { type GatewayTest, type GatewayTestOptions, startGatewayTest } from './gateway.js';

export interface SigningKey {
  readonly alg: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function rsaKey(kid: string, alg = 'RS256'): SigningKey {
  return { alg, kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
}

export function ecKey(kid: string): SigningKey {
  return { alg: 'ES256', kid, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

export function edKey(kid: string): SigningKey {
  return { alg: 'EdDSA', kid, ...generateKeyPairSync('ed25519') };
}

export function jwkOf({ publicKey, kid, alg }: SigningKey, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig', ...more };
}

export function encoded(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

export function signatureOf(signed: string, { alg, privateKey }: SigningKey): string {
  const bytes = Buffer.from(signed);
  if (alg === 'EdDSA') return sign(null, bytes, privateKey).toString('base64url');
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  if (alg.startsWith('PS')) return sign(hash, bytes, { key: privateKey, padding: 6, saltLength: -1 }).toString('base64url');
  return sign(hash, bytes, privateKey).toString('base64url');
}

/** @param header over what a decent token has; a text is taken as it is. */
export function tokenOf(key: SigningKey, claims: Record<string, unknown> | string, header: Record<string, unknown> | string = {}): string {
  const head = typeof header === 'string' ? header : { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header };
  const signed = `${encoded(head)}.${encoded(claims)}`;
  return `${signed}.${signatureOf(signed, key)}`;
}

export function hmacToken(claims: Record<string, unknown>, header: Record<string, unknown>, secret: string | Buffer): string {
  const signed = `${encoded(header)}.${encoded(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

export class LyingIssuer {
  keys: Record<string, unknown>[];
  /** Answers in place of the decent ones, by path. */
  readonly answers = new Map<string, (req: IncomingMessage, res: ServerResponse, body: string) => void>();
  /** Paths that were asked for, oldest first. */
  readonly asked: string[] = [];
  #server: Server | undefined;
  #port = 0;

  /** Key and certificate in PEM; absent: plain HTTP. */
  readonly #pem: string | undefined;

  constructor(keys: readonly SigningKey[], pem?: string) {
    this.keys = keys.map((key) => jwkOf(key));
    this.#pem = pem;
  }

  get url(): string {
    return `${this.#pem === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  keysAsked(): number {
    return this.asked.filter((path) => path === '/jwks').length;
  }

  async start(): Promise<this> {
    const serve = (req: IncomingMessage, res: ServerResponse): void => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => this.#answer(req, res, Buffer.concat(chunks).toString()));
    };
    const server = this.#pem === undefined ? createServer(serve) : createSecureServer({ key: this.#pem, cert: this.#pem }, serve);
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  #answer(req: IncomingMessage, res: ServerResponse, body: string): void {
    const [path = ''] = (req.url ?? '').split('?');
    this.asked.push(path);
    const own = this.answers.get(path);
    if (own) return own(req, res, body);
    if (path === '/.well-known/openid-configuration') return json(res, 200, this.metadata());
    if (path === '/jwks') return json(res, 200, { keys: this.keys });
    json(res, 404, {});
  }

  metadata(): Record<string, unknown> {
    const { url } = this;
    return {
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
    };
  }
}

export function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** A gateway in mode `oidc` whose clock begins with that of the machine, since the issuer has that one. */
export function startOidcTest(issuer: string, { settings, ...options }: GatewayTestOptions = {}): Promise<GatewayTest> {
  const oidc = { authMode: 'oidc', oidcIssuer: issuer, oidcClientId: 'lineside' } as const;
  return startGatewayTest({ clock: new TestClock(Date.now()), ...options, settings: { ...oidc, ...settings } });
}
