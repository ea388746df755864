import { type DestinationStream, destination, multistream, pino, type Logger } from 'pino';

export type Log = Logger;

/** Credentials inside of texts: the query form of the streams, API keys, JWTs. */
const SECRETS = /([?&]token=)[^&\s"'\\]+|\blsk_[\w-]{16,}|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;

const MEMBERS = ['password', 'currentPassword', 'newPassword', 'token', 'accessToken', 'refreshToken', 'key', 'credentials', 'authorization', 'cookie'];
const REDACTED = MEMBERS.flatMap((member) => [member, `*.${member}`]);

/** What `kept` is told at least, whatever goes to stdout. */
const KEPT_LEVEL = 'info';

/**
 * One JSON line per entry on stdout for the journal; `LINESIDE_LOG_LEVEL=silent` in tests.
 * @param kept a second destination, which sees the same lines from level `info` on.
 */
export function createLog(kept?: DestinationStream): Log {
  const level = process.env.LINESIDE_LOG_LEVEL ?? 'info';
  const options = { base: null, redact: REDACTED, hooks: { streamWrite: withoutSecrets } };
  if (!kept) return pino({ ...options, level });
  const shown = level === 'silent' ? [] : [{ level: level as 'info', stream: destination(1) }];
  const { values } = pino.levels;
  const lowest = level !== 'silent' && (values[level] as number) < (values[KEPT_LEVEL] as number) ? level : KEPT_LEVEL;
  return pino({ ...options, level: lowest }, multistream([...shown, { level: KEPT_LEVEL, stream: kept }]));
}

function withoutSecrets(line: string): string {
  return line.replace(SECRETS, (_, query: string | undefined) => `${query ?? ''}[Redacted]`);
}
