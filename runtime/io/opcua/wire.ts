/**
 * One secure channel with one session on it, and nothing that repairs itself: the library would reconnect for ever and say
 * nothing. A request has its time and its answer; a connection that is gone is told once (`lost`).
 */
import type { ClientSession, EndpointDescription, OPCUAClient, UserIdentityInfo } from 'node-opcua-client';
import type { Clock } from '../../vocabulary/clock.js';
import { Signal } from '../signal.js';
import { faultOfErrorMessage, passOver } from './error-message.js';
import type { ClientIdentity } from './identity.js';
import { leave, type LeftSession, nextLeft, putBack } from './left-sessions.js';
import { type ClientSecureChannelLayer, CloseSessionRequest, MessageSecurityMode, OPCUAClient as Client, SecurityPolicy, UserTokenType } from './library.js';
import { faultText, OpcUaFault, refusedWith } from './status.js';

type Channel = InstanceType<typeof ClientSecureChannelLayer>;
type Request = Parameters<Channel['performMessageTransaction']>[0];
export type Endpoint = EndpointDescription;

/** What the library's client has beside its declared members. */
interface ClientInside {
  performMessageTransaction(request: Request, callback: (fault: Error | null, response?: unknown) => void): void;
  /** `reactivateSession` takes no session of a client that is gone. */
  _activateSession(session: ClientSession, user: UserIdentityInfo, callback: (fault: Error | null) => void): void;
}

export interface WireSettings {
  readonly name: string;
  readonly identity: ClientIdentity;
  readonly securityPolicy: string;
  readonly securityMode: 'None' | 'Sign' | 'SignAndEncrypt';
  /** DER; what the channel is encrypted for. */
  readonly serverCertificate?: Buffer;
  readonly sessionTimeoutMs: number;
  /** Of one request. */
  readonly timeoutMs: number;
}

/** Nothing of a server is taken beyond these (OPC 10000-6, 7.1.2): a device is no reason to run out of memory. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const CHUNKS_MAX = 2048;
const CLOSE_MS_MAX = 1000;
const ANONYMOUS: UserIdentityInfo = { type: UserTokenType.Anonymous };
/** The library ends a connection on which nothing was said for so long; what is silent too long is judged by ours. */
const QUIET_MS_MAX = 2 ** 30;
/** Goes on although the connection is lost. */
const CLOSING = 'closing';
/** ms by which the library's own time-out comes after ours. */
const LIBRARY_LATER_MS = 500;

export class Wire {
  readonly #client: OPCUAClient;
  readonly #clock: Clock;
  readonly #settings: WireSettings;
  readonly #lost = new Signal();
  /** What still waits, told when the connection is gone: a reaction of the signal for each request would stay for as long as the connection. */
  readonly #waiting = new Set<(reason: string) => void>();
  #channel: Channel | undefined;
  #session: ClientSession | undefined;
  #user: UserIdentityInfo = ANONYMOUS;
  #closing: Promise<void> | undefined;
  #askedMonoMs: number;
  /** Whose sessions it makes, and at which server. */
  readonly #whose: string;

  private constructor(url: string, settings: WireSettings, clock: Clock) {
    this.#settings = settings;
    this.#whose = `${settings.name} ${url}`;
    this.#askedMonoMs = clock.monoMs();
    this.#clock = clock;
    const { identity } = settings;
    this.#client = Client.create({
      applicationName: 'Lineside',
      applicationUri: identity.applicationUri,
      clientName: settings.name,
      securityMode: MessageSecurityMode[settings.securityMode],
      securityPolicy: SecurityPolicy[settings.securityPolicy as keyof typeof SecurityPolicy],
      ...(settings.serverCertificate ? { serverCertificate: settings.serverCertificate } : {}),
      endpointMustExist: false,
      keepSessionAlive: false,
      requestedSessionTimeout: settings.sessionTimeoutMs,
      connectionStrategy: { maxRetry: 0, initialDelay: 1, maxDelay: 1 },
      transportTimeout: QUIET_MS_MAX,
      defaultTransactionTimeout: settings.timeoutMs + LIBRARY_LATER_MS,
      transportSettings: { maxMessageSize: MESSAGE_BYTES_MAX, maxChunkCount: CHUNKS_MAX },
      certificateKeyPairProvider: {
        getCertificate: () => identity.certificate,
        getCertificateChain: () => [identity.certificate],
        // a key as the library hides it
        getPrivateKey: () => ({ hidden: identity.key }) as never,
      },
    });
    this.#client.on('secure_channel_created', (channel) => {
      this.#channel = channel;
      // the library matches requests, and takes an answer from any channel
      channel.on('message', (_response, _type, _security, _requestId, from) => {
        // 0: it is being opened
        if (channel.channelId !== 0 && from !== channel.channelId) this.#distrust(`a message of channel ${from} came on channel ${channel.channelId}`);
      });
      channel.on('receive_chunk', (chunk) => {
        const fault = faultOfErrorMessage(chunk);
        if (fault === undefined) return;
        passOver(chunk);
        this.#distrust(fault);
      });
    });
    this.#client.on('close', (fault) => this.#lose(fault ? `the connection is gone: ${fault.message}` : 'the server has closed the connection'));
    this.#client.on('connection_lost', () => this.#lose('the connection is gone'));
    // whoever listens hears of failures by what he waits for
    this.#client.on('connection_failed', () => undefined);
  }

  /** A channel without a session. @throws OpcUaFault */
  static async open(url: string, settings: WireSettings, clock: Clock): Promise<Wire> {
    const wire = new Wire(url, settings, clock);
    try {
      await wire.#within(settings.timeoutMs, 'connecting', wire.#client.connect(url));
      return wire;
    } catch (fault) {
      await wire.close();
      if (fault instanceof OpcUaFault) throw fault;
      throw new OpcUaFault('lost', `no OPC UA connection to ${url}: ${shortened(faultText(fault))}`, statusIn(fault));
    }
  }

  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  /** Before anything that comes after it: what has just arrived on a connection that is given up is nobody's. */
  #lose(reason: string): void {
    if (this.#lost.reason !== undefined) return;
    this.#lost.raise(reason);
    for (const gone of [...this.#waiting]) gone(reason);
  }

  /** What arrives contradicts itself: nothing of this connection is believed any more. */
  #distrust(problem: string): void {
    this.close(`the server breaks the protocol: ${problem}`).catch(() => undefined); // it is given up either way
  }

  /** Since the last request. */
  get idleMs(): number {
    return this.#clock.monoMs() - this.#askedMonoMs;
  }

  get isLost(): boolean {
    return this.#lost.reason !== undefined;
  }

  endpoints(url: string): Promise<Endpoint[]> {
    return this.#within(this.#settings.timeoutMs, 'asking for its endpoints', this.#client.getEndpoints({ endpointUrl: url }));
  }

  /** A session in place of the one there is. @throws OpcUaFault */
  async signIn(user: UserIdentityInfo): Promise<void> {
    await this.#signOut();
    try {
      this.#session = await this.#newSession(user);
    } catch (fault) {
      if (!(fault instanceof OpcUaFault) || fault.opcStatus !== 'BadTooManySessions') throw fault;
      await this.endLeft(); // they may be our own
      this.#session = await this.#newSession(user);
    }
    this.#user = user;
  }

  async #newSession(user: UserIdentityInfo): Promise<ClientSession> {
    try {
      return await this.#within(this.#settings.timeoutMs * 2, 'opening a session', this.#client.createSession(user));
    } catch (fault) {
      if (fault instanceof OpcUaFault) throw fault;
      throw new OpcUaFault('refused', `the server opens no session: ${shortened(faultText(fault))}`, statusIn(fault));
    }
  }

  /**
   * Sessions of before, with the subscriptions they have: they are taken over by this channel, which alone may close them. One that this does not
   * succeed with is left to the server; the rest of them, where the connection goes meanwhile, to the next one.
   */
  async endLeft(): Promise<void> {
    for (let left = nextLeft(this.#whose, this.#clock); left; left = nextLeft(this.#whose, this.#clock)) {
      await this.#within(this.#settings.timeoutMs, 'ending a session of before', this.#end(left)).catch(() => undefined);
      if (this.isLost) return putBack(this.#whose, left);
    }
  }

  #end({ session, user }: LeftSession): Promise<void> {
    const inside = this.#inside;
    const request = new CloseSessionRequest({ deleteSubscriptions: true });
    request.requestHeader.authenticationToken = session.authenticationToken as never;
    return new Promise((resolve, reject) => {
      const settle = (fault: Error | null): void => (fault ? reject(fault) : resolve());
      inside._activateSession(session, user, (fault) => (fault ? reject(fault) : inside.performMessageTransaction(request, settle)));
    });
  }

  async #signOut(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (!session || this.isLost) return;
    await this.#within(Math.min(this.#settings.timeoutMs, CLOSE_MS_MAX), 'closing a session', session.close(true)).catch(() => undefined);
  }

  /**
   * One service call. Past the session of the library: that one makes itself anew when the server has forgotten it, and
   * subscriptions would be gone without a word.
   * @throws OpcUaFault
   */
  request<Response>(request: Request, timeoutMs = this.#settings.timeoutMs): Promise<Response> {
    if (this.#lost.reason !== undefined) return Promise.reject(new OpcUaFault('lost', this.#lost.reason));
    const session = this.#session;
    if (!session) return Promise.reject(new OpcUaFault('lost', 'there is no session'));
    this.#askedMonoMs = this.#clock.monoMs();
    // the session has been activated, so it has its token
    request.requestHeader.authenticationToken = session.authenticationToken as never;
    request.requestHeader.timeoutHint = timeoutMs + LIBRARY_LATER_MS;
    const doing = request.constructor.name.replace(/Request$/, '');
    const answered = new Promise<Response>((resolve, reject) => {
      this.#inside.performMessageTransaction(request, (fault, response) => {
        const header = (response as { responseHeader?: AnswerHeader } | undefined)?.responseHeader ?? faultHeader(fault);
        const asked = request.requestHeader.requestHandle;
        // a server that cannot read a request knows no handle of it, and answers it with a fault
        const isUnread = header !== undefined && header.requestHandle === 0 && !isGood(header.serviceResult);
        if (header && header.requestHandle !== asked && !isUnread) this.#distrust(`${doing} with the handle ${asked} was answered with ${header.requestHandle}`);
        if (header && !isGood(header.serviceResult)) reject(refusedWith(header.serviceResult, doing));
        else if (fault || !response) reject(new OpcUaFault(/timed out/i.test(fault?.message ?? '') ? 'silent' : 'lost', shortened(faultText(fault)), statusIn(fault)));
        else resolve(response as Response);
      });
    });
    return this.#within(timeoutMs, doing, answered);
  }

  get #inside(): ClientInside {
    // the library declares its requests on the session, which repairs itself; they go through the client
    return this.#client as unknown as ClientInside;
  }

  /** The answer, in its time. What comes later is nobody's. */
  #within<T>(timeoutMs: number, doing: string, work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (how: () => void): void => {
        cancel();
        this.#waiting.delete(gone);
        how();
      };
      const cancel = this.#clock.after(timeoutMs, () => settle(() => reject(new OpcUaFault('silent', `no answer within ${timeoutMs} ms (${doing})`, 'BadTimeout'))));
      const gone = (reason: string): void => settle(() => reject(new OpcUaFault('lost', reason, 'BadConnectionClosed')));
      if (doing !== CLOSING) {
        if (this.#lost.reason === undefined) this.#waiting.add(gone);
        else gone(this.#lost.reason);
      }
      work.then(
        (value) => settle(() => resolve(value)),
        (fault: unknown) => settle(() => reject(fault as Error)),
      );
    });
  }

  /** `reason`: why the connection is given up. */
  close(reason = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    const wasLost = this.isLost;
    this.#lose(reason);
    const channel = this.#channel;
    const session = this.#session;
    const isLeft = await this.#within(CLOSE_MS_MAX, CLOSING, this.#client.disconnect()).then(
      () => wasLost,
      () => true,
    );
    if (session && isLeft) leave(this.#whose, { session, user: this.#user }, this.#settings.sessionTimeoutMs, this.#clock);
    channel?.forceConnectionBreak();
    channel?.dispose();
  }
}

interface AnswerHeader {
  readonly requestHandle: number;
  readonly serviceResult: never;
}

function isGood(status: { readonly value: number }): boolean {
  return (status.value & 0x80000000) === 0;
}

/** A fault that the server has told is an error of the library with the answer in it. */
function faultHeader(fault: Error | null): AnswerHeader | undefined {
  return (fault as { response?: { responseHeader?: AnswerHeader } } | null)?.response?.responseHeader;
}

function statusIn(fault: unknown): string {
  const status = (fault as { statusCode?: { name?: string } } | null)?.statusCode?.name;
  return status ?? /\bBad[A-Z]\w+/.exec(faultText(fault))?.[0] ?? 'BadCommunicationError';
}

/** The library writes over several lines, with everything it knows. */
function shortened(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
}
