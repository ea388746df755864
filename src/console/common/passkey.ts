/** Passkeys as this browser has them: whether it can use one on this page, asking it for an answer, and making one. Nothing of a key is kept here. */
import { browserSupportsWebAuthn, type PublicKeyCredentialRequestOptionsJSON, startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import { ApiError } from '../data/api.js';
import type { AuthConfig, PasskeyCreation, PasskeyMade, Second } from '../data/types.js';
import { words } from './strings.js';

export function codeGiven(code: string): Second {
  return code.trim() === '' ? {} : { code: code.trim() };
}

export const passkeyWords = words({
  en: {
    passkey: 'Passkey',
    passkeys: 'Passkeys',
    use: 'Use a passkey',
    make: 'Add a passkey',
    makeText: 'A passkey is a key on a security token, a phone or this computer, with its own PIN or fingerprint. Give it a name, then follow the browser.',
    name: 'Name of the passkey',
    app: 'Authenticator app',
    choose: 'Choose what you sign in with beside your password.',
    remove: 'Remove',
    unused: 'not used yet',
    usedLast: (at: string) => `used last ${at}`,
    foreign: (name: string) => `opens nothing here: made for ${name}`,
    recoveryCode: 'Recovery code',
    proofNeeded: 'Now use a passkey or a code.',
    removeText: (name: string) => `${name} opens nothing from then on, and your other sessions end.`,
    proof: 'First prove who you are.',
    newApp: 'Set up an authenticator app',
    otherApp: 'Set up the app on another phone',
    hasApp: 'An authenticator app is set up.',
    codesLeft: (count: number) => `Recovery codes left: ${count}.`,
    wrongPassword: 'The password is wrong.',
    wrongProof: 'Password, code or passkey is wrong. Each code is good once.',
    refused: 'Password or passkey is wrong. Try again.',
    givenUp: 'The passkey was not used: it was cancelled, took too long, or there is none of yours here.',
    certificate: 'The browser does not trust the certificate of the box, and uses no passkey then. Install its authority first.',
    madeBefore: 'This key is registered for you already.',
    otherAddress: (origin: string) => `Passkeys work at ${origin} only: open the box under that address.`,
    noBrowser: 'This browser has no passkeys.',
    why: {
      no_public_name: 'No passkeys here: the box has no host name (gateway.publicName).',
      address_is_no_name: 'No passkeys here: the box is known by an IP address, and passkeys need a host name (gateway.publicName).',
      no_tls: 'No passkeys here: the box speaks no TLS.',
    },
  },
  de: {
    passkey: 'Passkey',
    passkeys: 'Passkeys',
    use: 'Passkey verwenden',
    make: 'Passkey hinzufügen',
    makeText:
      'Ein Passkey ist ein Schlüssel auf einem Sicherheitstoken, einem Telefon oder diesem Rechner, mit eigener PIN oder Fingerabdruck. Geben Sie ihm einen Namen und folgen Sie dem Browser.',
    name: 'Name des Passkeys',
    app: 'Authenticator-App',
    choose: 'Wählen Sie, womit Sie sich neben dem Kennwort anmelden.',
    remove: 'Entfernen',
    unused: 'noch nicht benutzt',
    usedLast: (at: string) => `zuletzt benutzt ${at}`,
    foreign: (name: string) => `öffnet hier nichts: angelegt für ${name}`,
    recoveryCode: 'Wiederherstellungscode',
    proofNeeded: 'Verwenden Sie nun einen Passkey oder einen Code.',
    removeText: (name: string) => `${name} öffnet danach nichts mehr, und Ihre anderen Sitzungen enden.`,
    proof: 'Weisen Sie sich zuerst aus.',
    newApp: 'Authenticator-App einrichten',
    otherApp: 'App auf einem anderen Telefon einrichten',
    hasApp: 'Eine Authenticator-App ist eingerichtet.',
    codesLeft: (count: number) => `Übrige Wiederherstellungscodes: ${count}.`,
    wrongPassword: 'Das Kennwort ist falsch.',
    wrongProof: 'Kennwort, Code oder Passkey ist falsch. Jeder Code gilt einmal.',
    refused: 'Kennwort oder Passkey ist falsch. Bitte noch einmal.',
    givenUp: 'Der Passkey wurde nicht verwendet: abgebrochen, zu spät, oder hier ist keiner von Ihnen.',
    certificate: 'Der Browser vertraut dem Zertifikat der Box nicht und verwendet dann keinen Passkey. Installieren Sie zuerst dessen Zertifizierungsstelle.',
    madeBefore: 'Dieser Schlüssel ist für Sie schon eingerichtet.',
    otherAddress: (origin: string) => `Passkeys gelten nur unter ${origin}: öffnen Sie die Box unter dieser Adresse.`,
    noBrowser: 'Dieser Browser hat keine Passkeys.',
    why: {
      no_public_name: 'Hier gibt es keine Passkeys: die Box hat keinen Rechnernamen (gateway.publicName).',
      address_is_no_name: 'Hier gibt es keine Passkeys: die Box ist unter einer IP-Adresse bekannt, und Passkeys brauchen einen Rechnernamen (gateway.publicName).',
      no_tls: 'Hier gibt es keine Passkeys: die Box spricht kein TLS.',
    },
  },
});

/** Why this page can use none, as a sentence; '' where it can. */
export function whyNoPasskeys(config: Pick<AuthConfig, 'passkeys'> | null): string {
  const offered = config?.passkeys;
  if (!offered) return passkeyWords.noBrowser;
  const [origin = ''] = offered.origins;
  if (offered.why !== null) return passkeyWords.why[offered.why];
  if (!offered.origins.includes(location.origin)) return passkeyWords.otherAddress(origin);
  return browserSupportsWebAuthn() ? '' : passkeyWords.noBrowser;
}

/** What an account can answer with, where it was asked; undefined where something else was refused. */
export function waysAsked(refused: unknown): readonly unknown[] | undefined {
  if (!(refused instanceof ApiError) || refused.code !== 'second_factor_required') return undefined;
  return Array.isArray(refused.body.secondFactors) ? refused.body.secondFactors : [];
}

/** Of somebody who is signed in: his name is not in question. */
export async function ownProof<T>(hasSecond: boolean, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (refused) {
    if (!(refused instanceof ApiError) || refused.code !== 'invalid_credentials') throw refused;
    throw new Error(hasSecond ? passkeyWords.wrongProof : passkeyWords.wrongPassword);
  }
}

/** Sends without a second factor first: the refusal brings a challenge, which is good for a short time and once. */
export async function withPasskey<T>(send: (second: Second) => Promise<T>): Promise<T> {
  let request: unknown;
  try {
    return await send({});
  } catch (refused) {
    request = waysAsked(refused)?.includes('passkey') ? (refused as ApiError).body.passkey : undefined;
    if (request === undefined) throw refused;
  }
  const { id, response } = await told(() => startAuthentication({ optionsJSON: request as PublicKeyCredentialRequestOptionsJSON }));
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  try {
    return await send({ passkey: { id, clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) } });
  } catch (refused) {
    throw refused instanceof ApiError && refused.code === 'invalid_credentials' ? new Error(passkeyWords.refused) : refused;
  }
}

export async function makePasskey({ excludeCredentials, pubKeyCredParams, ...options }: PasskeyCreation): Promise<PasskeyMade> {
  const optionsJSON = {
    ...options,
    excludeCredentials: excludeCredentials.map(({ transports, ...each }) => ({ ...each, transports: [...transports] })),
    pubKeyCredParams: [...pubKeyCredParams],
  };
  const { id, response } = await told(() => startRegistration({ optionsJSON }));
  return { id, clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject, transports: response.transports ?? [] };
}

/** What the browser says of a fault is for whoever wrote the page. */
async function told<T>(ceremony: () => Promise<T>): Promise<T> {
  try {
    return await ceremony();
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault;
    const name = fault instanceof WebAuthnError ? (fault.cause as Error).name : fault.name;
    if (/certificate/i.test(fault.message)) throw new Error(passkeyWords.certificate);
    if (name === 'InvalidStateError') throw new Error(passkeyWords.madeBefore);
    throw name === 'NotAllowedError' || name === 'AbortError' ? new Error(passkeyWords.givenUp) : fault;
  }
}
