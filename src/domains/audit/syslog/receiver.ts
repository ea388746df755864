/** The receiver as the settings name it. Its files are read at each connection, so renewed ones are taken without a restart. */
import type { Clock } from '../../../platform/base/clock.js';
import { readOutsideFile } from '../../../platform/base/outside-file.js';
import { ReceiverConnection, type ReceiverOptions } from '../../../platform/syslog/connection.js';
import { ReceiverFault } from '../../../platform/syslog/faults.js';
import type { SettingsOf } from '../../../settings.js';

/** A chain of certificates is some kilobytes. */
const PEM_BYTES_MAX = 1024 ** 2;

/** @throws ReceiverFault */
export async function openReceiver(settings: SettingsOf<'audit.syslog'>, more: Pick<ReceiverOptions, 'clock' | 'signal' | 'answerMs'>): Promise<ReceiverConnection> {
  const { auditSyslogAddress, auditSyslogPort: port, auditSyslogCaFile, auditSyslogCertFile, auditSyslogKeyFile } = settings;
  const tls: ReceiverOptions['tls'] = {
    ...(await part('ca', 'audit.syslog.caFile', auditSyslogCaFile, more.clock)),
    ...(await part('cert', 'audit.syslog.certFile', auditSyslogCertFile, more.clock)),
    ...(await part('key', 'audit.syslog.keyFile', auditSyslogKeyFile, more.clock)),
  };
  if (more.signal.aborted) throw new ReceiverFault('the box stops');
  try {
    return await ReceiverConnection.open({ host: auditSyslogAddress ?? '', port, tls, ...more });
  } catch (fault) {
    if (fault instanceof ReceiverFault) throw fault;
    // what OpenSSL says of files that are no certificates it says before anybody is called
    throw new ReceiverFault(`audit.syslog: caFile, certFile or keyFile holds no certificate, or no key that fits (${(fault as Error).message})`);
  }
}

async function part(member: 'ca' | 'cert' | 'key', setting: string, file: string | null, clock: Clock): Promise<ReceiverOptions['tls']> {
  if (file === null) return {};
  try {
    return { [member]: await readOutsideFile(file, PEM_BYTES_MAX, { clock }) };
  } catch (fault) {
    throw new ReceiverFault(`${setting}: ${file} cannot be read (${(fault as NodeJS.ErrnoException).code ?? (fault as Error).message}); put it right, or name another file`);
  }
}
