/** From the address and the security of a module to a session (decisions 7.5): endpoint, trust, channel, user. */
import type { UserIdentityInfo } from 'node-opcua-client';
import type { DeviceSecurity, ProbeModule } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import { type ClientIdentity, identityOf, ownIdentity, passingIdentity } from './identity.js';
import { MessageSecurityMode, UserTokenType } from './library.js';
import { OpcUaFault } from './status.js';
import { distrust, unfitness, plainFingerprint } from './trust.js';
import type { Judge } from './trust-watch.js';
import { type Endpoint, Wire, type WireSettings } from './wire.js';

const POLICY_URI = 'http://opcfoundation.org/UA/SecurityPolicy#'; // OPC 10000-7

export interface SessionPlan {
  readonly url: string;
  readonly name: string;
  readonly security: DeviceSecurity;
  readonly credentials: ProbeModule['credentials'];
  readonly sessionTimeoutMs: number;
  readonly timeoutMs: number;
}

/** @returns the settings of a channel without security, by which a server is asked what it offers; who it is shown is nobody's condition there. */
export async function discoverySettings({ name, security, sessionTimeoutMs, timeoutMs }: SessionPlan, clock: Clock): Promise<WireSettings & { readonly identityFault?: Error }> {
  const settings = { name, securityPolicy: 'None', securityMode: 'None', sessionTimeoutMs, timeoutMs } as const;
  try {
    return { ...settings, identity: await ownIdentity(security.folder, clock.wallMs()) };
  } catch (fault) {
    const identityFault = fault instanceof Error ? fault : new Error(String(fault));
    return { ...settings, identity: await passingIdentity(security.folder, clock.wallMs()), identityFault };
  }
}

/** What the server offers. @throws OpcUaFault */
export async function endpointsOf(plan: SessionPlan, clock: Clock): Promise<Endpoint[]> {
  const wire = await Wire.open(plan.url, await discoverySettings(plan, clock), clock);
  try {
    return await wire.endpoints(plan.url);
  } finally {
    await wire.close();
  }
}

export interface Opened {
  readonly wire: Wire;
  readonly user: UserIdentityInfo;
  /** Of the certificate that the channel is encrypted for; absent with policy None, where nobody was verified. */
  readonly judge?: Judge;
}

/** @throws OpcUaFault, or Error with a sentence for the operator. */
export async function openSession(plan: SessionPlan, clock: Clock): Promise<Opened> {
  const { security, credentials } = plan;
  if (security.authType !== 'Anonymous' && credentials?.missing !== undefined) throw new OpcUaFault('refused', credentials.missing);
  const settings = await discoverySettings(plan, clock);
  if (settings.identityFault && (security.securityPolicy !== 'None' || security.authType === 'Certificate')) throw settings.identityFault;
  const user = userOf(security, credentials, settings.identity);
  const secured = security.securityPolicy === 'None' ? undefined : await trusted(plan, settings, clock);
  const wire = await Wire.open(plan.url, secured?.settings ?? settings, clock).catch((fault: unknown) => {
    throw explained(fault, security);
  });
  try {
    await wire.signIn(user);
    return { wire, user, ...(secured ? { judge: secured.judge } : {}) };
  } catch (fault) {
    await wire.close();
    throw explained(fault, security);
  }
}

/** Words of a server that lead to the wrong place without ours. */
function explained(fault: unknown, { authType, securityPolicy }: DeviceSecurity): unknown {
  if (!(fault instanceof OpcUaFault)) return fault;
  const hint = /BadUserAccessDenied|BadIdentityToken/.test(`${fault.opcStatus} ${fault.message}`) ? WHO[authType] : securityPolicy === 'None' ? '' : ownHint(fault.message);
  return hint === '' ? fault : new OpcUaFault(fault.reason, `${fault.message}; ${hint}`, fault.opcStatus);
}

const WHO: Readonly<Record<DeviceSecurity['authType'], string>> = {
  Anonymous: 'it wants to know who signs in: set security.authType, with a secret',
  UserName: 'look at user name and password of the secret that security.secretRef names',
  Certificate: 'look at the certificate that signs in (security.clientCertificateRef, or that of the box), and at whom the server lets in',
};

function ownHint(message: string): string {
  if (/BadCertificateTimeInvalid/.test(message)) return 'it speaks of the certificate of this box: compare the clocks, and look at its dates (client-identity)';
  return /BadCertificateUntrusted|BadSecurityChecksFailed/.test(message) ? 'the certificate of this box has to be trusted at the server (client-identity shows it)' : '';
}

/** The settings of a secured channel to a server that is trusted, and whether it still is. */
async function trusted(plan: SessionPlan, settings: WireSettings, clock: Clock): Promise<{ readonly settings: WireSettings; readonly judge: Judge }> {
  const { securityPolicy, securityMode } = plan.security;
  const endpoints = await endpointsOf(plan, clock);
  const endpoint = endpoints.find((row) => row.securityPolicyUri === `${POLICY_URI}${securityPolicy}` && row.securityMode === MessageSecurityMode[securityMode]);
  if (!endpoint) {
    const offered = endpoints.map((row) => `${String(row.securityPolicyUri).replace(POLICY_URI, '')} ${MessageSecurityMode[row.securityMode]}`);
    throw new OpcUaFault(
      'refused',
      `the server does not offer ${securityPolicy} ${securityMode}; it offers ${[...new Set(offered)].join(', ') || 'nothing'}`,
      'BadSecurityPolicyRejected',
    );
  }
  const certificate = firstOf(endpoint.serverCertificate);
  if (certificate.length === 0) throw new OpcUaFault('refused', 'the server shows no certificate', 'BadCertificateInvalid');
  const judge = async (): Promise<string> => (await distrust(certificate, plan.security, clock.wallMs())) || unmeant(plan, endpoint, certificate);
  const reason = await judge();
  if (reason !== '') throw new OpcUaFault('refused', reason, 'BadCertificateUntrusted');
  return { settings: { ...settings, securityPolicy, securityMode, serverCertificate: certificate }, judge };
}

/** Of a certificate that is trusted for its authority: a person who has confirmed it has said whose it is. */
function unmeant({ url, security }: SessionPlan, { server }: Endpoint, certificate: Buffer): string {
  if (security.serverTrust !== 'ca' || plainFingerprint(security.serverCertificateSha256) !== '') return '';
  return unfitness(certificate, { host: new URL(url).hostname, applicationUri: server.applicationUri ?? '' });
}

/** A chain is its certificates one behind the other; the first one is the server's. */
export function firstOf(chain: Buffer | null | undefined): Buffer {
  if (!chain || chain.length < 4) return Buffer.alloc(0);
  // DER: SEQUENCE with a length of two bytes, as every certificate of more than 255 bytes has
  const length = chain[0] === 0x30 && chain[1] === 0x82 ? 4 + chain.readUInt16BE(2) : chain.length;
  return chain.subarray(0, Math.min(length, chain.length));
}

function userOf({ authType }: DeviceSecurity, credentials: ProbeModule['credentials'], own: ClientIdentity): UserIdentityInfo {
  switch (authType) {
    case 'Anonymous':
      return { type: UserTokenType.Anonymous };
    case 'UserName':
      if (credentials?.username === undefined)
        throw new OpcUaFault('refused', 'authType UserName needs a user name: name a secret in security.secretRef', 'BadIdentityTokenInvalid');
      return { type: UserTokenType.UserName, userName: credentials.username, password: credentials.password ?? '' };
    case 'Certificate': {
      const isOwn = credentials?.certificatePem === undefined || credentials.keyPem === undefined;
      const { certificate, key } = isOwn ? own : identityOf(credentials.certificatePem, credentials.keyPem);
      return { type: UserTokenType.Certificate, certificateData: certificate, privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
    }
  }
}
