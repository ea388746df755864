/**
 * The settings that matter for security, with the value for a plant that wants to withstand more than the shipped ones do.
 * The compiler holds the names against the rows of the settings; docs/security/hardening.md is printed from both.
 */
import type { SettingValues } from './settings.js';

export interface HardenedSetting {
  /** In words or as it is written in the file; `as shipped` where that is the hardened value already. */
  readonly hardened: string;
  readonly why: string;
}

const AS_SHIPPED = 'as shipped';

export const HARDENED: { readonly [Name in keyof SettingValues]?: HardenedSetting } = {
  operatingMode: { hardened: AS_SHIPPED, why: 'development lets weaker passwords, servers that nobody trusts and a time scale through' },
  authMode: { hardened: '`oidc`, or `local`', why: 'a provider brings its factors, its list of leavers and its watch over sign-ins; `none` makes an administrator of everybody' },
  listen: { hardened: 'the address in the network of the consoles', why: 'a box with a port in the field network does not serve its consoles there' },
  publicName: { hardened: 'the name of the box', why: 'certificates and passkeys need it, and browsers are then told to come by TLS only' },
  tlsCertFile: { hardened: 'a certificate of the plant', why: 'without one passwords and tokens travel in clear; ACME does as well' },
  tlsSelfSigned: { hardened: '`true` where there is no other', why: 'protects from listeners; from others only whoever compares the fingerprint' },
  strictTransport: { hardened: AS_SHIPPED, why: 'with a public name and a certificate of the plant browsers are told to come by TLS only' },
  plainHttp: { hardened: AS_SHIPPED, why: 'every program on the box could read along on the loopback' },
  trustedProxies: { hardened: 'empty, or the proxies one by one', why: 'whoever stands in it can be any address: for limits, lock-outs and records' },
  antiReplayEnabled: { hardened: AS_SHIPPED, why: 'a write that is sent again is done again' },
  rateLimitEnabled: { hardened: AS_SHIPPED, why: 'one address could take all of the gateway' },
  tokenInQuery: { hardened: '`false`', why: 'addresses get into logs of proxies; the consoles do not need it' },
  allowedOrigins: { hardened: AS_SHIPPED, why: 'pages of other origins could ask in the name of who has signed in' },
  inactivityTimeoutMs: { hardened: '`15m`', why: 'a console that is left open is a door; panels where that hinders work stay at 30 min' },
  lockoutThreshold: { hardened: AS_SHIPPED, why: 'more tries help who guesses' },
  passwordLengthMin: { hardened: '`15`', why: 'no list of known passwords is compared, so length has to do it' },
  passwordWork: { hardened: AS_SHIPPED, why: 'a stolen database is searched so much slower' },
  secondFactorRequiredFor: { hardened: '`{prefix}-admin` and whoever signs', why: 'a password that somebody has seen opens nothing by itself' },
  secondFactorToSign: { hardened: AS_SHIPPED, why: 'a session that was left open signs nothing with a password alone' },
  requireSiteGroup: { hardened: '`true`', why: 'who has been given no site then sees none, rather than all' },
  changeControlEnforced: { hardened: '`true`', why: 'no single person changes what runs' },
  selfApprovalAllowed: { hardened: AS_SHIPPED, why: 'two persons are the point of it' },
  approveRequiresValid: { hardened: '`true`', why: 'nobody signs what cannot run' },
  modeCheckDeviceTags: { hardened: '`true`', why: 'a raw write does not get around the mode of its module' },
  signingAlgorithm: { hardened: '`Ed25519`', why: 'whoever has the public key can verify; signatures with HMAC only the box itself can, and no box after a restore without keys' },
  auditAnchorsFolder: { hardened: 'a share that the box can add to', why: 'a disk that is set back as a whole is found with anchors only' },
  auditSyslogEnabled: { hardened: '`true`, with a receiver that is not on the box', why: 'who takes the disk, or sets it back, does not take the records with it' },
  archiveIntegrityIntervalMs: { hardened: AS_SHIPPED, why: 'an edit of the archive is told within a day' },
  integrityIntervalMs: { hardened: AS_SHIPPED, why: 'an edit past the gateway is told within a day' },
  backupDirectory: { hardened: 'another machine', why: 'what a box has lost it cannot bring back' },
  backupRecipient: { hardened: 'a public key whose identity is elsewhere', why: 'whoever takes the backups reads nothing' },
  mqttUrl: { hardened: '`mqtts://…` with user and `mqtt.caFile`', why: 'plain telemetry is read and forged by whoever is on the way' },
  demoEnabled: { hardened: AS_SHIPPED, why: 'nothing of a demonstration belongs beside a plant' },
};
