/** The box that a command talks to, as the person who has signed in. */
import { Api, ApiError, type Credential } from '../../client/api.js';
import { type Answered, TypedApi } from '../../client/typed.js';
import { addressOf, type KnownBox, type KnownBoxes } from './boxes.js';
import { CommandError, EXIT, failureOf } from './outcome.js';
import { withCode } from './second-code.js';
import type { Terminal } from './terminal.js';
import { fetchBy, type Trust } from './trust.js';

const REQUEST_MS_MAX = 60_000;

type SessionBody = Answered<'/api/v1/auth/login', 'post'>;

export interface BoxWish {
  /** Name or address; the one signed in to last where it is left out. */
  readonly box?: string | undefined;
  readonly site?: string | undefined;
}

/** In place of what is typed at the terminal. */
export interface GivenProof {
  readonly password: (() => Promise<string>) | undefined;
  readonly code: string | undefined;
}

/** The tokens of a session, kept where they were found. */
class KeptSession implements Credential {
  readonly #boxes: KnownBoxes;
  readonly #name: string;
  readonly #anonymous: TypedApi;
  readonly #terminal: Pick<Terminal, 'say'>;
  #isToldUnkept = false;
  box: KnownBox;

  constructor(boxes: KnownBoxes, { name, box }: { readonly name: string; readonly box: KnownBox }, terminal: Pick<Terminal, 'say'>) {
    this.#boxes = boxes;
    this.#name = name;
    this.#terminal = terminal;
    this.box = box;
    this.#anonymous = anonymous(box.url, box.trust);
  }

  token(): string {
    return this.box.accessToken;
  }

  /** The command has them, also where they cannot be kept for the next one. */
  take({ accessToken, refreshToken = this.box.refreshToken }: Pick<SessionBody, 'accessToken' | 'refreshToken'>): void {
    const before = this.box.refreshToken;
    this.box = { ...this.box, accessToken, refreshToken };
    try {
      this.#boxes.renew(this.#name, before, { accessToken, refreshToken });
    } catch (fault) {
      const { message, exitCode } = failureOf(fault, this.box.url);
      if (exitCode === EXIT.fault) throw fault;
      if (!this.#isToldUnkept)
        this.#terminal.say(`lineside: the tokens of ${this.#name} are new and cannot be kept in ${this.#boxes.file} (${message}); the next command may have to sign in again`);
      this.#isToldUnkept = true;
    }
  }

  async renew(): Promise<boolean> {
    if (this.box.refreshToken === '') return false;
    // another command may have renewed it meanwhile; where nothing can be kept, ours are newer than those of the file
    const stored = this.#isToldUnkept ? undefined : this.#boxes.find(this.#name)?.box;
    if (stored && stored.accessToken !== this.box.accessToken) {
      this.box = stored;
      return true;
    }
    try {
      this.take(await this.#anonymous.post('/api/v1/auth/refresh', { body: { refreshToken: this.box.refreshToken }, options: { anonymous: true } }));
      return true;
    } catch (fault) {
      if (fault instanceof ApiError && fault.status === 401) return false;
      throw fault;
    }
  }
}

export class Box {
  readonly api: Api;
  readonly typed: TypedApi;
  readonly #session: KeptSession;
  readonly #terminal: Terminal;
  readonly #wishedSite: string | undefined;

  constructor(boxes: KnownBoxes, { box: named, site }: BoxWish, terminal: Terminal) {
    const found = boxes.find(named);
    if (!found) {
      const whom = named === undefined ? 'you are signed in to no box' : `you are not signed in to ${named}`;
      throw new CommandError(EXIT.forbidden, 'not_signed_in', `${whom}: lineside login ${named ?? 'ADDRESS'}`);
    }
    this.#session = new KeptSession(boxes, found, terminal);
    this.#wishedSite = site;
    this.#terminal = terminal;
    this.api = new Api({ base: found.box.url, withinMs: REQUEST_MS_MAX, fetch: fetchBy(found.box.url, found.box.trust) }, this.#session);
    this.typed = new TypedApi(this.api);
  }

  get url(): string {
    return this.#session.box.url;
  }

  get username(): string {
    return this.#session.box.username;
  }

  /** The site that a command is about: the one that is named, that was chosen at sign-in, or the only one there is. */
  async site(): Promise<string> {
    if (this.#wishedSite !== undefined) return this.#wishedSite;
    if (this.#session.box.site !== '') return this.#session.box.site;
    const sites = await this.typed.all('/api/v1/sites', {});
    const [only, ...others] = sites.map(({ name }) => name);
    if (only !== undefined && others.length === 0) return only;
    const there = only === undefined ? 'the box has no site yet: apply one first' : `the box has several sites (${[only, ...others].join(', ')}): name one with --site`;
    throw new CommandError(EXIT.usage, 'site_missing', there, { sites: sites.map(({ name }) => name) });
  }

  /** By the clock of the box, which dates what it tells; by ours where it does not say the time. */
  async nowMs(): Promise<number> {
    if (this.api.boxTimeMs === undefined) await this.typed.get('/api/v1/auth/config', { options: { background: true } });
    return this.api.boxTimeMs ?? Date.now();
  }

  /** Undefined where every site is meant. */
  get namedSite(): string | undefined {
    return this.#wishedSite;
  }

  /** What is signed wants a token that is minutes old: the password is asked for once more where it is not, and the code of a second factor. */
  async signed<T>(work: () => Promise<T>, given: GivenProof): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.code !== 'reauthentication_required') throw fault;
      const password = await (given.password?.() ?? this.#terminal.askSecret(`password of ${this.#session.box.username}, to sign with: `));
      this.#session.take(await withCode(this.#terminal, given.code, (proof) => this.typed.post('/api/v1/auth/reauthenticate', { body: { password, ...proof } })));
      return work();
    }
  }
}

/** Of nobody, for what comes before a sign-in. */
export function anonymous(url: string, trust: Trust | undefined): TypedApi {
  return new TypedApi(new Api({ base: addressOf(url), withinMs: REQUEST_MS_MAX, fetch: fetchBy(url, trust) }));
}
