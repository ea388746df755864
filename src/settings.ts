/**
 * Every setting is one row: flag, environment, YAML key, type, default, meaning (decisions D-CFG and the appendix of the
 * control side). Precedence: flag, environment, file, default. An unknown key, a bad value or an unreadable file stops the
 * start with exit code 2 naming it.
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import * as v from 'valibot';
import { parseSettings } from './platform/base/yaml.js';
import { DataFileFault, isThere, readDataFile } from './platform/base/data-file.js';
import { isLoopback } from './platform/base/ip-address.js';
import { nearest } from './platform/base/nearest.js';
import { readBoundedFile } from './platform/base/plain-file.js';
import { StartRefused } from './platform/base/start-refused.js';
import { isAppName } from './platform/syslog/message.js';
import {
  addressRanges,
  bytes,
  decimal,
  duration,
  durationOrNever,
  expectsOf,
  flag,
  hostNames,
  integer,
  label,
  maybeHostName,
  maybeHttps,
  maybeText,
  oneOf,
  origins,
  powerNodes,
  recipient,
  roleGroups,
  roles,
  type SettingSchema,
  shown,
  siteNames,
  text,
} from './setting-values.js';

/** Exit code of the command is 2 (D-CFG). */
export class SettingsError extends StartRefused {
  readonly setting: string;

  constructor(setting: string, message: string) {
    super(message);
    this.name = 'SettingsError';
    this.setting = setting;
  }
}

interface Row<Key extends string, T> {
  readonly key: Key;
  readonly schema: SettingSchema<T>;
  readonly default: T | ((context: Defaults) => T);
  readonly meaning: string;
  readonly flag?: string;
  /** A further environment variable besides `LINESIDE_<KEY>`. */
  readonly environment?: string;
  /** In words, where the default depends on other settings or on the machine. */
  readonly defaultText?: string;
  /** Not shown in reports. */
  readonly secret?: true;
  /** What is so instead, where this version reads the setting and does nothing with it: told to whoever sets it. */
  readonly withoutEffect?: string;
}

interface Defaults {
  readonly dataDir: string;
  readonly authMode: string;
  readonly operatingMode: string;
}

// ---------------------------------------------------------------- the rows

function row<const Key extends string, T>(
  key: Key,
  schema: SettingSchema<T>,
  value: NoInfer<T> | ((context: Defaults) => NoInfer<T>),
  meaning: string,
  more: Pick<Row<Key, T>, 'flag' | 'environment' | 'secret' | 'defaultText' | 'withoutEffect'> = {},
): Row<Key, T> {
  return { key, schema, default: value, meaning, ...more };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NO_POWER = { withoutEffect: 'this version switches no power of nodes' };

/** D-AUTH-03: N = 2^15. */
export const PASSWORD_WORK = 15;

export const SETTINGS = {
  httpPort: row('gateway.httpPort', integer(0, 65535), 8090, 'port of the gateway; 0 takes a free one', { flag: 'port' }),
  listen: row('gateway.listen', text, ({ authMode }) => (authMode === 'none' ? '127.0.0.1' : '0.0.0.0'), 'address the gateway listens on', {
    defaultText: '0.0.0.0; with auth.mode none 127.0.0.1',
  }),
  operatingMode: row('gateway.operatingMode', oneOf('production', 'development'), 'production', 'development allows what a running plant must not'),
  publicName: row('gateway.publicName', maybeHostName, null, 'host name under which people reach the gateway; passkeys are bound to it'),
  tlsCertFile: row('gateway.tls.certFile', maybeText, null, 'PEM certificate, with those that it was issued by; with keyFile the gateway speaks TLS'),
  tlsKeyFile: row('gateway.tls.keyFile', maybeText, null, 'PEM key of the certificate'),
  tlsSelfSigned: row('gateway.tls.selfSigned', flag, false, 'TLS with a certificate that the box makes for itself, where no other is set or has come yet'),
  tlsLookIntervalMs: row(
    'gateway.tls.lookInterval',
    duration(SECOND, DAY),
    MINUTE,
    'how often the files of the certificate are looked at; a changed one is taken without a restart',
  ),
  strictTransport: row(
    'gateway.tls.strictTransport',
    oneOf('auto', 'on', 'off'),
    'auto',
    'whether browsers are told to come by TLS only; auto: where gateway.publicName is set and the certificate is not self-signed',
  ),
  acmeDirectory: row('gateway.tls.acme.directory', maybeHttps, null, 'directory of an ACME server that issues the certificate (RFC 8555); unset: none is asked'),
  acmeDomains: row('gateway.tls.acme.domains', hostNames, [], 'names that the certificate is for; gateway.publicName where it is empty'),
  acmeEmail: row('gateway.tls.acme.email', maybeText, null, 'whom the ACME server may write to'),
  acmeChallenge: row('gateway.tls.acme.challenge', oneOf('http-01', 'dns-01'), 'http-01', 'how the box shows that a name is its own'),
  acmeHttpPort: row('gateway.tls.acme.httpPort', integer(1, 65535), 80, 'port on which a challenge of http-01 is answered while it lasts'),
  acmeDnsHook: row('gateway.tls.acme.dnsHook', maybeText, null, 'program that adds and removes the TXT record of dns-01: called with add or remove, name, value'),
  acmeCaFile: row('gateway.tls.acme.caFile', maybeText, null, 'certificate authority of the ACME server; those of Node where it is unset'),
  plainHttp: row('gateway.plainHttp', oneOf('off', 'loopback'), 'off', 'beside TLS: HTTP without it for programs and the panel of this machine, on 127.0.0.1'),
  plainHttpPort: row('gateway.plainHttpPort', integer(0, 65535), 8091, 'port of gateway.plainHttp; 0 takes a free one'),
  trustedProxies: row('gateway.trustedProxies', addressRanges, [], 'peers whose X-Forwarded-For is believed'),
  bodyBytesMax: row('gateway.maxBodyBytes', integer(1024, 1024 ** 3), 1024 ** 2, 'largest request body'),
  reasonLengthMin: row('gateway.policy.reasonMinLength', integer(1, 1024), 10, 'shortest operator reason, in characters', {
    flag: 'reason-min-length',
    environment: 'REASON_MIN_LENGTH',
  }),
  antiReplayEnabled: row('gateway.antiReplay.enabled', flag, true, 'writes need a nonce'),
  antiReplayWindowMs: row('gateway.antiReplay.window', duration(SECOND), 10 * MINUTE, 'how long a nonce is remembered'),
  antiReplayEntriesMax: row('gateway.antiReplay.maxEntries', integer(1000, 10_000_000), 500_000, 'nonces kept; beyond it writes answer 503'),
  rateLimitEnabled: row('gateway.rateLimit.enabled', flag, true, 'limit requests per source address'),
  rateLimitPerSecond: row('gateway.rateLimit.requestsPerSecond', decimal(0.1, 1_000_000), 500, 'sustained requests per source address'),
  rateLimitBurst: row('gateway.rateLimit.burst', integer(1, 10_000_000), 2000, 'requests at once per source address'),
  streamsPerSourceMax: row('gateway.streams.maxPerSourceIP', integer(1, 100_000), 10, 'live streams per source address'),
  tokenInQuery: row('gateway.streams.tokenInQuery', flag, true, 'streams take a token in the query; off: header and authenticate frame only'),
  allowedOrigins: row('gateway.cors.allowedOrigins', origins, [], 'other origins whose pages may call the API'),
  modeCheckDeviceTags: row('gateway.tagWrite.modeCheckDeviceTags', flag, false, 'a device tag write also obeys the mode of its module'),
  authMode: row('auth.mode', oneOf('local', 'oidc', 'none'), 'local', 'who may sign in', { flag: 'auth-mode' }),
  groupPrefix: row('auth.groupPrefix', label, 'lineside', 'prefix of the role and site groups'),
  roles: row('auth.roles', roles, [], 'role table entries: {group, tier, grant, deny}'),
  rolesMode: row('auth.rolesMode', oneOf('merge', 'replace'), 'merge', 'replace drops the shipped role table'),
  accessTokenLifetimeMs: row('auth.session.accessTokenLifetime', duration(MINUTE, HOUR), 15 * MINUTE, 'life of an access token'),
  inactivityTimeoutMs: row('auth.session.inactivityTimeout', duration(MINUTE), 30 * MINUTE, 'a session without activity ends after it'),
  sessionLifetimeMs: row('auth.session.maxLifetime', duration(MINUTE), 12 * HOUR, 'a session ends after it, active or not'),
  lockoutThreshold: row('auth.lockout.threshold', integer(1, 1000), 5, 'failed passwords that lock a user name for their address; ten times as many lock it everywhere'),
  lockoutWindowMs: row('auth.lockout.window', duration(SECOND), 15 * MINUTE, 'within which they are counted'),
  lockoutDurationMs: row('auth.lockout.duration', duration(SECOND), 15 * MINUTE, 'how long it stays locked'),
  passwordLengthMin: row('auth.local.passwordMinLength', integer(8, 128), 12, 'shortest password'),
  passwordWork: row(
    'auth.local.passwordWork',
    integer(1, 20),
    PASSWORD_WORK,
    'work of a password hash: scrypt with N = 2 to the power of it; less than the default in development mode only',
  ),
  secondFactorRequiredFor: row(
    'auth.secondFactor.requiredFor',
    roleGroups,
    [],
    'role groups whose accounts need a second factor, such as {prefix}-admin; who has none can sign in to enrol only',
  ),
  secondFactorToSign: row('auth.secondFactor.toSign', flag, true, 'who has a second factor gives its code with the password that signs, too'),
  requireSiteGroup: row('auth.requireSiteGroup', flag, false, 'a person without a site group sees no site, administrators excepted; off: every site'),
  oidcIssuer: row('auth.oidc.issuer', maybeText, null, 'address of the identity provider, exactly as it calls itself'),
  oidcClientId: row('auth.oidc.clientId', maybeText, null, 'client id at the identity provider'),
  oidcClientSecretFile: row('auth.oidc.clientSecretFile', maybeText, null, 'file with the client secret'),
  oidcAudience: row('auth.oidc.audience', maybeText, null, 'expected audience; the client id when unset'),
  oidcScopes: row('auth.oidc.scopes', text, 'openid profile email groups', 'scopes asked for at login'),
  oidcGroupsClaim: row('auth.oidc.groupsClaim', text, 'groups', 'claim with the groups; dots go into objects'),
  oidcUsernameClaim: row('auth.oidc.usernameClaim', text, 'preferred_username', 'claim with the user name'),
  oidcJwksUrl: row('auth.oidc.jwksURL', maybeText, null, 'keys of the issuer; from its discovery document when unset'),
  oidcCaFile: row('auth.oidc.caFile', maybeText, null, 'certificate authority of the issuer'),
  oidcRedirectUri: row('auth.oidc.redirectURI', maybeText, null, 'where the browser comes back to, as it is registered; from the address of the request when unset'),
  boxProfile: row('box.profile', label, 'auto', 'hardware profile whose limits hold; auto: the one that fits the machine best'),
  nodeName: row('node.name', text, () => hostname(), 'name of the appliance node in stand-alone form', { defaultText: 'the host name' }),
  timeScale: row('runtime.timeScale', decimal(0.01, 100), 1, 'speed of plant time; development with simulated I/O only'),
  orphanTimeoutMs: row('runtime.orphanTimeout', duration(0), 10 * SECOND, 'a unit whose controller is away holds after it'),
  retainIntervalMs: row('runtime.retainInterval', duration(100), SECOND, 'how often retained values are saved'),
  stLoopLimit: row('runtime.st.loopLimit', integer(1, 1_000_000_000), 10_000, 'iterations of one loop in structured text'),
  stStatementBudget: row('runtime.st.statementBudget', integer(1, 1_000_000_000), 100_000, 'statements of one scan of a chart'),
  exceptionChartTimeoutMs: row('runtime.sfc.exceptionChartTimeout', duration(SECOND), 300 * SECOND, 'budget of an exception chart'),
  settleDeadlineMs: row('runtime.sfc.settleDeadline', duration(SECOND), 60 * SECOND, 'how long children may take to settle'),
  realtimePriority: row('runtime.realtime', flag, true, 'scan threads get real-time priority and I/O probes go before ordinary work, where the machine grants it'),
  runtimeHeapMaxMb: row('runtime.maxHeapMb', integer(32, 65536), 256, 'heap limit of a scan thread; it scans at most one unit per 16 MB'),
  scanThreadsMax: row('runtime.maxThreads', integer(1, 1024), 12, 'so many units have a scan thread each; further ones share threads with units of the same scan interval'),
  recordingDurationMaxMs: row('runtime.recording.maxDuration', duration(SECOND, DAY), HOUR, 'longest recording of scan inputs for replay'),
  recordingBytesMax: row('runtime.recording.maxBytes', bytes, 64 * 1024 ** 2, 'largest recording, before compression'),
  recordingsKept: row('runtime.recording.keep', integer(1, 1000), 4, 'recordings kept per unit; the next one removes the oldest'),
  holdPropagation: row('batch.holdPropagation', oneOf('batch', 'unitProcedure', 'operation', 'phase'), 'batch', 'how far a held phase spreads'),
  pastAfterMs: row('batch.pastAfter', durationOrNever(1), 10 * MINUTE, 'elements of an ended batch whose record has settled leave the memory after it'),
  recordPastAfterMs: row(
    'batch.recordPastAfter',
    durationOrNever(1),
    DAY,
    'a batch record that has settled or is sealed leaves the memory after it, counted from its last change, and the batch itself as long after all that it left behind',
  ),
  resumeCancelsPause: row('batch.resumeCancelsPause', flag, false, 'Resume is accepted while Pausing'),
  approveRequiresValid: row('recipe.approveRequiresValid', flag, false, 'approve refuses a recipe with binding violations'),
  storageReserveBytes: row('storage.reserveBytes', bytes, 512 * 1024 ** 2, 'free space below which Start is rejected'),
  ioReconnectMinMs: row('io.reconnect.min', duration(10), 500, 'first pause before a device is tried again'),
  ioReconnectMaxMs: row('io.reconnect.max', duration(10), 30 * SECOND, 'longest pause before a device is tried again'),
  readbackTimeoutMs: row('io.readbackTimeout', duration(10), 5 * SECOND, 'how long a written output may take to read back'),
  outputs: row(
    'io.outputs',
    oneOf('live', 'withheld'),
    ({ operatingMode }): 'live' | 'withheld' => (operatingMode === 'development' ? 'withheld' : 'live'),
    'withheld: this box reads its devices and writes to none of them; simulated ones are written',
    { defaultText: 'live; in development withheld' },
  ),
  lostHoldDelayMs: row('io.lostHoldDelay', duration(0), 10 * SECOND, 'a phase holds when its I/O is lost for so long'),
  bypassDefaultMs: row('interlock.bypass.defaultDuration', duration(SECOND), HOUR, 'length of an interlock bypass'),
  bypassMaxMs: row('interlock.bypass.maxDuration', duration(SECOND), 24 * HOUR, 'longest interlock bypass'),
  changeControlEnforced: row('changeControl.enforce', flag, false, 'controlled kinds change through change requests only'),
  selfApprovalAllowed: row('changeControl.allowSelfApproval', flag, false, 'an author may approve his own change request'),
  changeRequestExpiryHours: row('changeControl.expiryHours', integer(1, 8760), 168, 'hours in which a change request can be approved'),
  signingAlgorithm: row('security.signing.algorithm', oneOf('HMAC-SHA256', 'Ed25519'), 'HMAC-SHA256', 'how records are signed'),
  secretsDir: row('secrets.dir', text, ({ dataDir }) => path.join(dataDir, 'secrets'), 'files with the secrets of devices', { defaultText: '<dataDir>/secrets' }),
  auditRecordsMax: row('audit.maxRecords', integer(1000, 1_000_000_000), 1_000_000, 'records kept in the live trail; older ones go into files of the archive'),
  auditAnchorsFolder: row(
    'audit.anchors.folder',
    maybeText,
    null,
    'folder outside the box, a share for instance, in which signed ends of the audit trail are kept; without one a box that is set back is not noticed',
  ),
  auditAnchorsMqttTopic: row('audit.anchors.mqttTopic', maybeText, null, 'topic at the broker of mqtt.url; the newest end of the audit trail is retained in <topic>/<device id>'),
  auditAnchorsIntervalMs: row('audit.anchors.interval', duration(MINUTE), 10 * MINUTE, 'how often an end of the audit trail is kept there, and sent away'),
  auditSyslogEnabled: row('audit.syslog.enabled', flag, false, 'every audit record is sent to a receiver of syslog over TLS (RFC 5424, RFC 5425)'),
  auditSyslogAddress: row('audit.syslog.address', maybeText, null, 'host name or address of the receiver; its certificate is for it'),
  auditSyslogPort: row('audit.syslog.port', integer(1, 65535), 6514, 'port of the receiver'),
  auditSyslogCaFile: row('audit.syslog.caFile', maybeText, null, 'certificate authority of the receiver; those of Node where it is unset'),
  auditSyslogCertFile: row('audit.syslog.certFile', maybeText, null, 'PEM certificate by which the receiver knows this box; with keyFile'),
  auditSyslogKeyFile: row('audit.syslog.keyFile', maybeText, null, 'PEM key of the certificate'),
  auditSyslogFacility: row(
    'audit.syslog.facility',
    oneOf('auth', 'authpriv', 'audit', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'),
    'audit',
    'facility of the messages; audit is 13',
  ),
  auditSyslogAppName: row('audit.syslog.appName', text, 'lineside', 'APP-NAME of the messages'),
  auditSyslogMessageBytesMax: row(
    'audit.syslog.messageBytesMax',
    integer(2048, 1024 ** 2),
    8192,
    'longest message; of a longer record what it is about is sent with its hash. The receiver must take as much',
  ),
  auditSyslogConfirmIntervalMs: row(
    'audit.syslog.confirmInterval',
    duration(SECOND, HOUR),
    5 * MINUTE,
    'how often the receiver shows that it has read, by ending a connection in order; what it has not is sent again',
  ),
  auditAgeMaxMs: row('audit.maxAge', duration(DAY), 400 * DAY, 'age at which records go into files of the archive'),
  archiveIntegrityIntervalMs: row(
    'audit.archiveIntegrityInterval',
    durationOrNever(HOUR),
    24 * HOUR,
    'how often the files of the archive are checked, first some minutes after a start; 0: only when somebody asks',
  ),
  integrityIntervalMs: row(
    'integrity.interval',
    durationOrNever(HOUR),
    24 * HOUR,
    'how often everything that is evidence is verified, first some seconds after a start; 0: only when somebody asks',
  ),
  trailReviewIntervalMs: row(
    'reviews.auditTrailInterval',
    durationOrNever(DAY),
    0,
    'how often the audit trail is to be reviewed and signed, per site; overdue is an alarm; 0: nobody is reminded',
  ),
  accessReviewIntervalMs: row(
    'reviews.userAccessInterval',
    durationOrNever(DAY),
    0,
    'how often it is to be reviewed and signed who has which access; overdue is an alarm; 0: nobody is reminded',
  ),
  backupDirectory: row('backup.directory', maybeText, null, 'folder for the backups that the box makes by itself: on another machine or another disk; none are made when unset'),
  backupRecipient: row('backup.recipient', recipient, null, 'public key (age1…) for which backups are encrypted; the box itself cannot open them'),
  backupIntervalMs: row('backup.interval', durationOrNever(HOUR), DAY, 'how often a backup is made; 0: only when somebody asks'),
  backupsKept: row('backup.keep', integer(1, 10_000), 14, 'backups of this box kept in the folder; the next one removes the oldest'),
  snapshotsKept: row(
    'snapshots.keep',
    integer(0, 1000),
    20,
    'snapshots of the configuration kept, of which one is taken before each apply that changes something; 0: none are taken',
  ),
  historianEnabled: row('historian.enabled', flag, true, 'record tag values'),
  historianIntervalMinMs: row('historian.minInterval', duration(100), SECOND, 'closest samples of one tag'),
  historianFlushIntervalMs: row('historian.flushInterval', duration(100), 2 * SECOND, 'samples lost at most by a power cut'),
  historianRetentionMs: row('historian.retention', duration(DAY), 400 * DAY, 'how long samples are kept'),
  historianBytesMax: row('historian.maxBytes', bytes, 20 * 1024 ** 3, 'disk share of the historian'),
  maxShelveDurationMs: row('alarms.maxShelveDuration', duration(SECOND), 24 * HOUR, 'longest shelf of an alarm'),
  resolvedRetentionMs: row('alarms.resolvedRetention', duration(15 * MINUTE), 24 * HOUR, 'how long a resolved alarm is readable'),
  powerProvider: row('power.provider', text, 'none', 'none, redfish, ipmi, wol or simulation', NO_POWER),
  powerNodes: row('power.nodes', powerNodes, {}, 'address and secret per node', { secret: true, ...NO_POWER }),
  mqttEnabled: row('mqtt.enabled', flag, false, 'publish telemetry'),
  mqttUrl: row('mqtt.url', maybeText, null, 'broker: mqtt://host:1883, or mqtts://host:8883 with TLS'),
  mqttClientId: row('mqtt.clientId', maybeText, null, 'client id at the broker'),
  mqttUsername: row('mqtt.username', maybeText, null, 'user at the broker'),
  mqttPasswordFile: row('mqtt.passwordFile', maybeText, null, 'file with the password at the broker'),
  mqttCaFile: row('mqtt.caFile', maybeText, null, 'certificate authority of the broker'),
  mqttTopicPrefix: row('mqtt.topicPrefix', text, 'lineside', 'first topic level'),
  mqttSites: row('mqtt.sites', siteNames, [], 'sites published; all when empty'),
  mqttTagIntervalMs: row('mqtt.tagInterval', duration(100), SECOND, 'closest messages of one tag'),
  mqttTagRefreshMs: row('mqtt.tagRefresh', duration(SECOND), MINUTE, 'a tag that does not change is sent again after it'),
  sparkplugEnabled: row('mqtt.sparkplug.enabled', flag, false, 'Sparkplug B instead of JSON'),
  sparkplugGroupId: row('mqtt.sparkplug.groupId', text, 'lineside', 'group of the edge node'),
  sparkplugEdgeNodeId: row('mqtt.sparkplug.edgeNodeId', maybeText, null, 'edge node; the device id when unset'),
  demoEnabled: row('demo.enabled', flag, false, 'the demonstration plant may be set up'),
  demoDir: row('demo.dir', maybeText, null, 'manifests of the demonstration plant; the shipped ones when unset'),
} as const satisfies Record<string, Row<string, unknown>>;

type Rows = typeof SETTINGS;
type ValueOf<R> = R extends Row<string, infer T> ? T : never;

export type SettingValues = { readonly [Name in keyof Rows]: ValueOf<Rows[Name]> };

/**
 * The settings under a part of the keys, for example `SettingsOf<'alarms'>` or `SettingsOf<'gateway.streams'>`. Who needs
 * them takes this type and is handed all settings, so that a new row reaches its user without a third file.
 */
export type SettingsOf<Part extends string> = Pick<SettingValues, { [Name in keyof Rows]: Rows[Name]['key'] extends `${Part}.${string}` ? Name : never }[keyof Rows]>;

export interface Settings extends SettingValues {
  readonly dataDir: string;
  readonly configFile: string | null;
  readonly insecureAllowRemote: boolean;
  /** Go on although what was stored is missing or damaged (D-C-09). */
  readonly acceptLoss: boolean;
  /** Drive the plant again although the appliance ended several times in a row by a fault of its own. */
  readonly acceptFaults: boolean;
  /** Show a code for a first administrator although an appliance lived here before. */
  readonly newAdminCode: boolean;
  /** End with exit code 3 where the appliance would start in rescue. */
  readonly noRescue: boolean;
  /** Settings that somebody has set and that do nothing in this version, as sentences. */
  readonly withoutEffect: readonly string[];
}

const ENVIRONMENT_PREFIX = 'LINESIDE_';
/** Variables of the prefix that are not settings. */
const OTHER_VARIABLES = new Set(['LINESIDE_LOG_LEVEL', 'LINESIDE_DIST', 'LINESIDE_DATA_DIR', 'LINESIDE_CONFIG']);
const SWITCHES = ['insecure-allow-remote', 'accept-loss', 'accept-faults', 'new-admin-code', 'no-rescue'] as const;
const PLAIN_FLAGS = ['config', 'data-dir', ...SWITCHES] as const;

type AnyRow = Row<string, unknown>;
const ROWS: readonly (readonly [string, AnyRow])[] = Object.entries(SETTINGS);

export function environmentName(key: string): string {
  return ENVIRONMENT_PREFIX + key.toUpperCase().replaceAll('.', '__');
}

/**
 * @param argv arguments after the command, for example `--auth-mode none`.
 * @param dataDir where the appliance keeps its data when no flag says otherwise.
 * @throws SettingsError naming the setting.
 */
export function readSettings(argv: readonly string[], env: Readonly<Record<string, string | undefined>>, dataDir: string): Settings {
  const flags = readFlags(argv);
  const folder = path.resolve(flags.get('data-dir') ?? env.LINESIDE_DATA_DIR ?? dataDir);
  const named = flags.get('config') ?? env.LINESIDE_CONFIG;
  const configFile = findConfig(named, folder);
  const file = configFile === null ? new Map<string, unknown>() : readFile(configFile, named !== undefined);
  refuseUnknownVariables(env);
  const chosen = new Map<string, { readonly value: unknown; readonly from: string }>();
  for (const [, setting] of ROWS) {
    const found = choose(setting, flags, env, file);
    if (found) chosen.set(setting.key, found);
  }
  const authMode = String(chosen.get('auth.mode')?.value ?? 'local');
  const operatingMode = String(chosen.get('gateway.operatingMode')?.value ?? 'production');
  const values: Record<string, unknown> = {};
  for (const [name, setting] of ROWS) values[name] = resolve(setting, chosen.get(setting.key), { dataDir: folder, authMode, operatingMode });
  const insecureAllowRemote = flags.has('insecure-allow-remote');
  const switches = {
    acceptLoss: flags.has('accept-loss'),
    acceptFaults: flags.has('accept-faults'),
    newAdminCode: flags.has('new-admin-code'),
    noRescue: flags.has('no-rescue'),
  };
  const withoutEffect = ROWS.flatMap(([name, setting]) => (chosen.has(setting.key) ? notesOn(setting, values[name]) : []));
  const settings = { ...(values as SettingValues), dataDir: folder, configFile, insecureAllowRemote, ...switches, withoutEffect };
  checkTogether(settings);
  return settings;
}

/** Whoever sets what is so anyway expects nothing of it. */
function notesOn(setting: AnyRow, value: unknown): string[] {
  const { key, schema, withoutEffect } = setting;
  const isDefault = JSON.stringify(value) === JSON.stringify(setting.default);
  if (withoutEffect === undefined || isDefault) return [];
  return [`${key}${setting.secret ? '' : ` ${defaultWords(shown(schema, value))}`} has no effect: ${withoutEffect}`];
}

/** The rows in words, for the reference page. */
export interface SettingWords {
  readonly key: string;
  readonly flag: string;
  readonly environment: readonly string[];
  readonly default: string;
  readonly accepts: string;
  readonly meaning: string;
}

export function describeSettings(): SettingWords[] {
  return ROWS.map(([, setting]) => ({
    key: setting.key,
    flag: setting.flag === undefined ? '' : `--${setting.flag}`,
    environment: [environmentName(setting.key), ...(setting.environment === undefined ? [] : [setting.environment])],
    default: setting.defaultText ?? (setting.default === null ? '' : defaultWords(shown(setting.schema, setting.default))),
    accepts: expectsOf(setting.schema).replace(/^must be /, ''),
    meaning: setting.withoutEffect === undefined ? setting.meaning : `${setting.meaning}; without effect: ${setting.withoutEffect}`,
  }));
}

function defaultWords(shown: unknown): string {
  return typeof shown === 'object' ? JSON.stringify(shown) : String(shown);
}

/** `{key: shown value}` with secrets replaced, for reports. */
export function showSettings(settings: Settings): Record<string, unknown> {
  const report: Record<string, unknown> = {};
  for (const [name, setting] of ROWS) report[setting.key] = setting.secret ? '***' : shown(setting.schema, settings[name as keyof SettingValues]);
  return report;
}

/** Most settings have no flag: whoever tries one is told where it is set. */
function insteadOfFlag(name: string, flags: readonly string[]): string {
  const word = name.replaceAll('-', '');
  const meant = ROWS.find(([, { key }]) => [key.split('.').at(-1), key.replaceAll('.', '')].some((part) => part?.toLowerCase() === word))?.[1];
  if (meant?.flag !== undefined) return `; the flag of ${meant.key} is --${meant.flag}`;
  if (meant) return `: ${meant.key} is set in the configuration file, or as ${environmentName(meant.key)} in the environment`;
  const near = nearest(name, flags);
  return `${near === undefined ? '' : `; the nearest known one is --${near}`}; lineside start --help lists flags and settings`;
}

function readFlags(argv: readonly string[]): Map<string, string> {
  const withValue = new Set<string>([...PLAIN_FLAGS.filter((name) => !isSwitch(name)), ...ROWS.flatMap(([, setting]) => setting.flag ?? [])]);
  const flags = new Map<string, string>();
  const rest = argv.values();
  for (const argument of rest) {
    const [, name, inline] = /^--([a-z-]+)(?:=(.*))?$/.exec(argument) ?? [];
    if (name === undefined) throw new SettingsError(argument, `unexpected argument ${argument}`);
    if (isSwitch(name) && inline === undefined) flags.set(name, 'true');
    else if (!withValue.has(name)) throw new SettingsError(`--${name}`, `unknown flag --${name}${insteadOfFlag(name, [...withValue])}`);
    else {
      const value = inline ?? rest.next().value;
      if (value === undefined) throw new SettingsError(`--${name}`, `flag --${name} needs a value`);
      flags.set(name, value);
    }
  }
  return flags;
}

function isSwitch(name: string): boolean {
  return (SWITCHES as readonly string[]).includes(name);
}

function findConfig(named: string | undefined, folder: string): string | null {
  if (named !== undefined) {
    const file = path.resolve(named);
    if (!existsSync(file)) throw new SettingsError('--config', `the configuration file ${file} does not exist`);
    return file;
  }
  const file = path.join(folder, 'config.yaml');
  return isThere(file) ? file : null; // also a link to nothing: somebody meant settings to be there
}

const CONFIG_BYTES_MAX = 1024 ** 2;

function readFile(file: string, isNamed: boolean): Map<string, unknown> {
  let document: unknown;
  try {
    // one that is named may be what a shell has opened
    const bytes = isNamed ? readBoundedFile(file, CONFIG_BYTES_MAX) : readDataFile(file, 'correct it or move it away', CONFIG_BYTES_MAX);
    document = parseSettings(bytes?.toString('utf8') ?? '');
  } catch (fault) {
    if (fault instanceof DataFileFault) throw new SettingsError(file, `the configuration file ${fault.message}`);
    throw new SettingsError(file, `the configuration file ${file} cannot be read; correct it or move it away: ${(fault as Error).message}`);
  }
  const found = new Map<string, unknown>();
  if (document === null || document === undefined) return found;
  if (typeof document !== 'object' || Array.isArray(document)) throw new SettingsError(file, `the configuration file ${file} must hold keys and values`);
  flatten(document as Record<string, unknown>, '', found);
  return found;
}

/** Nested keys and dotted names both read; a key that is neither a setting nor on the way to one is refused. */
function flatten(part: Record<string, unknown>, prefix: string, found: Map<string, unknown>): void {
  for (const [name, value] of Object.entries(part)) {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (ROWS.some(([, setting]) => setting.key === key)) {
      if (found.has(key)) throw new SettingsError(key, `setting ${key} is given twice`);
      found.set(key, value);
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value) && ROWS.some(([, setting]) => setting.key.startsWith(`${key}.`))) {
      flatten(value as Record<string, unknown>, key, found);
    } else if (!(value === null && ROWS.some(([, setting]) => setting.key.startsWith(`${key}.`)))) {
      throw new SettingsError(key, `unknown setting ${key}`);
    }
  }
}

function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set(ROWS.map(([, setting]) => environmentName(setting.key)));
  for (const name of Object.keys(env)) {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || known.has(name) || OTHER_VARIABLES.has(name)) continue;
    throw new SettingsError(name, `unknown environment variable ${name}`);
  }
}

function choose(
  setting: AnyRow,
  flags: Map<string, string>,
  env: Readonly<Record<string, string | undefined>>,
  file: Map<string, unknown>,
): { value: unknown; from: string } | undefined {
  if (setting.flag !== undefined && flags.has(setting.flag)) return { value: flags.get(setting.flag), from: `--${setting.flag}` };
  for (const name of [environmentName(setting.key), setting.environment]) {
    if (name !== undefined && env[name] !== undefined) return { value: env[name], from: name };
  }
  return file.has(setting.key) ? { value: file.get(setting.key), from: setting.key } : undefined;
}

function resolve(setting: AnyRow, found: { readonly value: unknown; readonly from: string } | undefined, context: Defaults): unknown {
  if (!found) return typeof setting.default === 'function' ? (setting.default as (context: Defaults) => unknown)(context) : setting.default;
  const read = v.safeParse(setting.schema, found.value);
  if (read.success) return read.output;
  const where = found.from === setting.key ? setting.key : `${found.from} (${setting.key})`;
  throw new SettingsError(setting.key, `${where} ${expectsOf(setting.schema)}, not ${setting.secret ? '***' : JSON.stringify(found.value)}`);
}

function checkTogether(settings: Settings): void {
  if (settings.authMode === 'none' && !isLoopback(settings.listen) && !settings.insecureAllowRemote) {
    throw new SettingsError(
      'gateway.listen',
      `gateway.listen ${settings.listen} would open a gateway without authentication to the network; use 127.0.0.1, or give --insecure-allow-remote`,
    );
  }
  if ((settings.tlsCertFile === null) !== (settings.tlsKeyFile === null)) {
    throw new SettingsError('gateway.tls', 'gateway.tls.certFile and gateway.tls.keyFile are given together or not at all');
  }
  checkAcme(settings);
  if (settings.passwordWork < PASSWORD_WORK && settings.operatingMode !== 'development')
    throw new SettingsError(
      'auth.local.passwordWork',
      `auth.local.passwordWork ${settings.passwordWork} would keep passwords less well than ${PASSWORD_WORK} does; only gateway.operatingMode development takes less`,
    );
  if (settings.bypassDefaultMs > settings.bypassMaxMs)
    throw new SettingsError('interlock.bypass.defaultDuration', 'interlock.bypass.defaultDuration must not be longer than interlock.bypass.maxDuration');
  if (settings.ioReconnectMinMs > settings.ioReconnectMaxMs) throw new SettingsError('io.reconnect.min', 'io.reconnect.min must not be longer than io.reconnect.max');
  if (settings.backupDirectory !== null && settings.backupRecipient === null)
    throw new SettingsError(
      'backup.recipient',
      'backup.recipient must be the public key (age1…) for which the backups in backup.directory are encrypted; age-keygen makes one, and its identity stays off this box',
    );
  checkTelemetry(settings);
  checkSyslog(settings);
  checkIssuer(settings);
  refuseAbsent(settings);
}

/** What mode `oidc` cannot do without, and what would let somebody else answer for the identity provider. */
function checkIssuer({ authMode, oidcIssuer, oidcClientId, oidcJwksUrl, oidcRedirectUri, oidcScopes }: Settings): void {
  if (authMode !== 'oidc') return;
  if (oidcIssuer === null) throw new SettingsError('auth.oidc.issuer', 'auth.oidc.issuer is missing: auth.mode oidc needs the address of the identity provider');
  if (oidcClientId === null) throw new SettingsError('auth.oidc.clientId', 'auth.oidc.clientId is missing: auth.mode oidc needs the name under which this box is registered');
  for (const [key, address] of [
    ['auth.oidc.issuer', oidcIssuer],
    ['auth.oidc.jwksURL', oidcJwksUrl],
  ] as const) {
    if (address !== null && !isTrustworthy(address))
      throw new SettingsError(key, `${key} must be an https address without query and user, or http on this machine (127.0.0.1, localhost)`);
  }
  if (oidcRedirectUri !== null && !/^https?:\/\/[^/?#@\s]+\/api\/v1\/auth\/oidc\/callback$/.test(oidcRedirectUri))
    throw new SettingsError('auth.oidc.redirectURI', 'auth.oidc.redirectURI must be the address of this box as browsers know it, followed by /api/v1/auth/oidc/callback');
  if (!oidcScopes.split(' ').includes('openid')) throw new SettingsError('auth.oidc.scopes', 'auth.oidc.scopes must contain openid');
}

/** Nobody on the network can answer in its place. */
function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { href, hostname, search, hash, username, password } = new URL(address);
  if (search !== '' || hash !== '' || username !== '' || password !== '') return false;
  return href.startsWith('https:') || (href.startsWith('http:') && (hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))));
}

function checkAcme({ acmeDirectory, acmeDomains, publicName, acmeChallenge, acmeDnsHook }: Settings): void {
  if (acmeDirectory === null) return;
  if (acmeDomains.length === 0 && publicName === null)
    throw new SettingsError(
      'gateway.tls.acme.domains',
      'gateway.tls.acme.domains must name what the certificate is for, or gateway.publicName, while gateway.tls.acme.directory is set',
    );
  if (acmeChallenge === 'dns-01' && acmeDnsHook === null)
    throw new SettingsError(
      'gateway.tls.acme.dnsHook',
      'gateway.tls.acme.dnsHook must name the program that adds and removes TXT records while gateway.tls.acme.challenge is dns-01',
    );
}

const BROKER = /^mqtts?:\/\/(\[[0-9a-fA-F:.]+\]|[^\s/:@[\]]+)(:\d{1,5})?\/?$/;

function checkTelemetry({ mqttEnabled, mqttUrl, mqttTopicPrefix, auditAnchorsMqttTopic }: Settings): void {
  if (!mqttEnabled && auditAnchorsMqttTopic === null) return;
  if (mqttUrl === null || !BROKER.test(mqttUrl)) {
    const needs = mqttEnabled ? 'mqtt.enabled is true' : 'audit.anchors.mqttTopic is set';
    throw new SettingsError('mqtt.url', `mqtt.url must be mqtt://host:port or mqtts://host:port while ${needs}; user and password have settings of their own`);
  }
  checkTopic('mqtt.topicPrefix', mqttTopicPrefix);
  if (auditAnchorsMqttTopic !== null) checkTopic('audit.anchors.mqttTopic', auditAnchorsMqttTopic);
}

/** MQTT 3.1.1, 4.7: wildcards are of subscribers, and `$` is of the broker. */
function checkTopic(setting: string, topic: string): void {
  if (/[+#\0]/.test(topic) || topic.startsWith('$')) throw new SettingsError(setting, `${setting} must not contain + or #, nor begin with $`);
}

const RECEIVER = /^[^\s/@?#[\]]{1,253}$/;

function checkSyslog({ auditSyslogEnabled, auditSyslogAddress, auditSyslogAppName, auditSyslogCertFile, auditSyslogKeyFile }: Settings): void {
  if (!auditSyslogEnabled) return;
  if (auditSyslogAddress === null || !RECEIVER.test(auditSyslogAddress))
    throw new SettingsError(
      'audit.syslog.address',
      'audit.syslog.address must be the host name or address of the receiver while audit.syslog.enabled is true; the port is a setting of its own',
    );
  if (!isAppName(auditSyslogAppName)) throw new SettingsError('audit.syslog.appName', 'audit.syslog.appName must be 1 to 48 printable characters without a space');
  if ((auditSyslogCertFile === null) !== (auditSyslogKeyFile === null))
    throw new SettingsError('audit.syslog.certFile', 'audit.syslog.certFile and audit.syslog.keyFile are given together or not at all');
}

/**
 * What this version does not have is refused at start where the plant would be less protected, or less is seen of it, than
 * the setting says. What only does nothing is told (`withoutEffect`): no update keeps a line from starting for that.
 */
function refuseAbsent({ sparkplugEnabled }: Settings): void {
  if (sparkplugEnabled) throw new SettingsError('mqtt.sparkplug.enabled', 'mqtt.sparkplug.enabled: this version publishes JSON only; leave it false');
}
