/** A whole identity provider in this process (oidc-provider), and a browser that goes there and back: it follows redirects and keeps cookies. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwkOf } from './lying-issuer.js';

/** What is used of the library, which has no types of its own. */
interface Provider {
  readonly callback: () => (req: IncomingMessage, res: ServerResponse) => void;
  readonly Grant: new (of: { accountId: string; clientId: string }) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  readonly RefreshToken: { readonly revokeByGrantId?: unknown };
  interactionDetails(
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<{ prompt: { name: string }; params: { client_id: string; scope: string }; session?: { accountId: string } }>;
  interactionFinished(req: IncomingMessage, res: ServerResponse, result: unknown, options: { mergeWithLastSubmission: boolean }): Promise<void>;
}

export const CLIENT_ID = 'lineside';
export const CLIENT_SECRET = 'a secret of the test client, long enough';

export class OidcPeer {
  /** Who types his password at the login page of the provider. */
  person = 'sub-anna';
  readonly people = new Map<string, Record<string, unknown>>([
    ['sub-anna', { preferred_username: 'anna', name: 'Anna Ek', email: 'anna@example.org', groups: ['lineside-supervisor', 'lineside-site-north'] }],
    ['sub-bert', { preferred_username: 'bert', name: 'Bert', groups: ['lineside-viewer'] }],
  ]);
  /** How often somebody had to type it. */
  typed = 0;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  #handle: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<OidcPeer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const peer = new OidcPeer(server);
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      peer.asked.push(`${req.method} ${(req.url ?? '').split('?')[0]}`);
      if (peer.#handle) peer.#handle(req, res);
      else res.writeHead(503).end();
    });
    return peer;
  }

  /** The box is registered with the address that its browsers come back to; until then nobody answers. */
  async register(redirectUri: string): Promise<void> {
    const { default: Made } = (await import('oidc-provider' as string)) as { default: new (issuer: string, configuration: object) => Provider };
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { use, kid, alg } = jwkOf({ ...key, kid: 'peer-1', alg: 'RS256' });
    const provider = new Made(this.url, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [{ ...key.privateKey.export({ format: 'jwk' }), use, kid, alg }] },
      scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
      claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'], groups: ['groups'] },
      findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => Promise.resolve({ sub, ...this.people.get(sub) }) }),
      issueRefreshToken: () => Promise.resolve(true),
      rotateRefreshToken: true,
      features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      cookies: { keys: ['one key of the test'] },
      ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 3600, RefreshToken: 86_400, Interaction: 600, Session: 86_400, Grant: 86_400 },
    });
    const callback = provider.callback();
    this.#handle = (req, res) => {
      if (!req.url?.startsWith('/interaction/')) return callback(req, res);
      this.#interact(provider, req, res).catch((fault: unknown) => res.writeHead(500).end(String(fault)));
    };
  }

  async #interact(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(req, res);
    if (prompt.name === 'login') {
      this.typed += 1;
      return provider.interactionFinished(req, res, { login: { accountId: this.person } }, { mergeWithLastSubmission: false });
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? this.person, clientId: params.client_id });
    grant.addOIDCScope('openid profile email groups');
    await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export interface Visited {
  readonly address: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export class Browser {
  /** By origin and name. */
  readonly #cookies = new Map<string, Map<string, string>>();

  cookie(origin: string, name: string): string | undefined {
    return this.#cookies.get(origin)?.get(name);
  }

  /** @returns every page on the way, the last one answers no redirect, or is the first that `until` says yes to. */
  async go(address: string, until: (address: string) => boolean = () => false): Promise<Visited[]> {
    const trail: Visited[] = [];
    for (let next = address; trail.length < 20; ) {
      const visited = await this.fetch(next);
      trail.push(visited);
      const { location } = visited.headers;
      if (typeof location !== 'string') return trail;
      next = new URL(location, next).href;
      if (until(next)) return trail;
    }
    throw new Error('the browser was sent in circles');
  }

  fetch(address: string, method = 'GET', body?: string, accept?: string): Promise<Visited> {
    const { origin } = new URL(address);
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    const headers = {
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(jar.size === 0 ? {} : { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), 'X-DCS-Nonce': `nonce-${Math.random()}` }),
    };
    return new Promise((resolve, reject) => {
      const asked = httpRequest(address, { method, headers, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          for (const line of answer.headers['set-cookie'] ?? []) {
            const [pair = ''] = line.split(';');
            const at = pair.indexOf('=');
            if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(pair.slice(0, at));
            else jar.set(pair.slice(0, at), pair.slice(at + 1));
          }
          resolve({ address, status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString('utf8') });
        });
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}
