/** opcua trust: the certificate that a server shows, compared by a person at the server, and written into the security of its module. */
import { ApiError } from '../../client/api.js';
import { addressOf, type Answered } from '../../client/typed.js';
import { onlyAsRead, type ReadOne, readOne } from './as-read.js';
import type { Box } from './box.js';
import { ioModuleNames } from './channels.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { endpointsOf, plainFingerprint } from './opcua.js';
import { CommandError, EXIT, type Outcome, usage } from './outcome.js';

const COMPARED = 8;
const MODULE = '/api/v1/sites/{site}/iomodules/{name}';
type IOModule = Answered<typeof MODULE, 'get'>;

/** Before anybody walks to the server. @throws CommandError where a fingerprint would count for nothing. */
async function verifiedModule(box: Box, address: string, name: string): Promise<ReadOne<IOModule>> {
  const read = await readOne<IOModule>(box, address);
  if (!read) throw new CommandError(EXIT.refused, 'not_found', `there is no I/O module ${name}`);
  const { protocol, security } = read.value;
  if (protocol !== 'opcua') throw usage(`${name} is of protocol ${protocol}: certificates of servers are trusted for opcua`);
  if (security.securityPolicy === undefined || security.securityPolicy === 'None')
    throw usage(
      `${name} has securityPolicy None: its server shows nothing that could be verified. Set security.securityPolicy and securityMode first: lineside opcua endpoints ${name} lists what the server offers`,
    );
  return read;
}

/** Nothing where somebody has written the module since it was read. @throws CommandError */
async function pin(box: Box, site: string, read: ReadOne<IOModule>, serverCertificateSha256: string): Promise<void> {
  const { name, security } = read.value;
  const path = { site, name };
  const body = { security: { ...security, serverTrust: 'pinned' as const, serverCertificateSha256 } };
  try {
    await onlyAsRead(box, addressOf(MODULE, { path }), read, (ifMatch) => box.typed.put(MODULE, { path, body, options: { ifMatch } }));
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.status !== 412) throw fault;
    throw new CommandError(EXIT.refused, 'precondition_failed', `somebody has changed ${name} since the command began, and nothing was trusted: look at it, and begin again`);
  }
}

async function trust(context: CommandContext): Promise<Outcome> {
  const { box, args, options, terminal } = context;
  const [name = ''] = args;
  const site = await box.site();
  const given = textOf(options, 'fingerprint');
  const wanted = given === undefined ? undefined : plainFingerprint(given);
  const read = await verifiedModule(box, addressOf(MODULE, { path: { site, name } }), name);
  const { security, address } = read.value;
  const found = await endpointsOf(context, { ioModule: name, site });
  const shown = [...new Set(found.flatMap(({ serverCertificateSha256 }) => (serverCertificateSha256 === '' ? [] : [serverCertificateSha256])))];
  const before = security.serverCertificateSha256 ?? '';
  const [only, ...others] = wanted === undefined ? shown : shown.filter((each) => each === wanted);
  if (shown.length === 0) throw new CommandError(EXIT.refused, 'not_found', `the server ${address} of ${name} shows no certificate: it has endpoints without security alone`);
  if (only === undefined)
    throw new CommandError(
      EXIT.refused,
      'fingerprint_differs',
      `the server ${address} of ${name} shows another certificate than the one that you have named, and nothing was trusted: it shows ${shown.join(' and ')}. Somebody else may answer in its place`,
      { shown },
    );
  if (others.length > 0) throw usage(`the server ${address} of ${name} shows several certificates (${shown.join(', ')}): name the one that you have compared with --fingerprint`);
  const data = { module: name, serverCertificateSha256: only, before };
  if (only === before) return { data, text: `${name} trusts it already: ${only}` };
  if (wanted === undefined) {
    terminal.say(
      [
        `the server ${address} of ${name} shows the certificate with SHA-256`,
        `  ${only}`,
        before === '' ? 'nothing is trusted so far.' : `trusted so far is another one:\n  ${before}`,
        'Look at the server itself (its display, its configuration program) which certificate it has. What comes over the network proves nothing.',
      ].join('\n'),
    );
    const typed = await terminal.ask(`the first ${COMPARED} digits as the server itself shows them (Enter: trust nothing): `);
    const digits = typed.replace(/[:\s]/g, '').toLowerCase();
    if (digits.length < COMPARED || !only.startsWith(digits))
      throw new CommandError(
        EXIT.no,
        'not_confirmed',
        digits === '' ? 'nothing was trusted' : `nothing was trusted: ${typed.trim()} is not how the certificate begins that came over the network`,
      );
  }
  await pin(box, site, read, only);
  return { data, text: `${name} trusts the server with the certificate ${only}${before === '' ? '' : ` in place of ${before}`}` };
}

export const OPCUA_TRUST_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'opcua trust <module>',
    about: 'trust the certificate of the server of a module, after a person has compared it at the server itself: its first digits are asked for at the terminal',
    options: [['--fingerprint <sha256>', 'as it was read at the server; trusted is what the server shows, when it is that']],
    names: { module: ioModuleNames },
    examples: ['lineside opcua trust plc', 'lineside opcua trust plc --fingerprint 3F:0A:...'],
    run: trust,
  },
];
