/** audit: the signed export of the audit trail, and the key with which it is verified elsewhere (lineside verify). */
import { closeSync, createWriteStream, existsSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { refusalOf, whole } from '../../client/answer.js';
import { ApiError } from '../../client/api.js';
import { addressOf } from '../../client/typed.js';
import { ExportVerifier, keyIdOf } from '../../platform/ledger/signed-export.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { EXIT, type Outcome, usage } from './outcome.js';
import { instantOf } from './times.js';

/** Of an answer that may take minutes to make and to send; a box that says nothing for so long is gone. */
const EXPORT_MS_MAX = 3_600_000;

/** Into a file beside it first: one that was cut off is none. Looked at as it comes, so that whoever takes it away has it whole. */
async function exportTrail({ box, args, options }: CommandContext): Promise<Outcome> {
  const [file = ''] = args;
  const query = { from: await instantOf(box, textOf(options, 'from'), '--from'), to: await instantOf(box, textOf(options, 'to'), '--to') };
  if (existsSync(file)) throw usage(`${file} is there already: evidence is not written over; give another name`);
  const key = keyIdOf((await box.typed.get('/api/v1/audit/key', {})).publicKey);
  const verifier = new ExportVerifier(key, undefined);
  const part = `${file}.part`;
  if (existsSync(part)) throw usage(`${part} is there already: another export writes it, or one was cut off; remove it then`);
  closeSync(openSync(part, 'wx', 0o600)); // before anything is asked for that could not be kept
  try {
    await whole(async () => {
      const answer = await box.api.ask('GET', addressOf('/api/v1/backup/audit', { query }), undefined, {
        accept: 'application/x-ndjson',
        signal: AbortSignal.timeout(EXPORT_MS_MAX),
      });
      if (!answer.ok || !answer.body) throw new ApiError(answer.status, await refusalOf(answer));
      await pipeline(answer.body, lookedAt(verifier), createWriteStream(part));
    });
    renameSync(part, file);
  } catch (fault) {
    rmSync(part, { force: true });
    throw fault;
  }
  const verdict = verifier.end();
  const { ok, records, firstSequence, lastSequence, problems } = verdict;
  const range = records === 0 ? 'no record' : `${records} records, ${firstSequence} to ${lastSequence}`;
  const found = ok ? 'it came whole, signed by this box' : `it is NOT what this box signed: ${problems.join('; ')}`;
  const text = `${file}: ${range}; ${found}\nverify it elsewhere with: lineside verify ${file} --key KEYFILE (lineside audit key KEYFILE)`;
  return { data: { file, ...verdict }, text, exitCode: ok ? EXIT.ok : EXIT.no };
}

function lookedAt(verifier: ExportVerifier): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        verifier.take(chunk);
      } catch (fault) {
        return done(fault as Error);
      }
      done(null, chunk);
    },
  });
}

async function key({ box, args: [file = ''] }: CommandContext): Promise<Outcome> {
  const { keyId, publicKey } = await box.typed.get('/api/v1/audit/key', {});
  if (file === '') return { data: { keyId, publicKey }, text: publicKey.trimEnd(), isContent: true };
  writeFileSync(file, publicKey, { flag: 'wx' });
  return { data: { keyId, file }, text: `${file}: public key ${keyId} of this box; give it to whoever verifies an export, by another way than the export` };
}

export const AUDIT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'audit export <file>',
    about: 'write the signed audit trail into a new file, live and archived, a record a line; that it was read is on record',
    options: [
      ['--from <time>', 'from then on: a time, or a duration back from now'],
      ['--to <time>', 'until then'],
    ],
    examples: ['lineside audit export trail.ndjson', 'lineside audit key box.pem && lineside verify trail.ndjson --key box.pem'],
    run: exportTrail,
  },
  { typed: 'audit key [file]', about: 'the public key of the box, with which lineside verify judges its exports', run: key },
];
