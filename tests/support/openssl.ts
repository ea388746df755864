/** The command openssl with the configuration of its installation: the OPC UA library names another one to its process, which may be gone by now. */
import { execFileSync } from 'node:child_process';

export function openssl(args: readonly string[], cwd?: string): void {
  const { OPENSSL_CONF: _ofTheLibrary, ...env } = process.env;
  execFileSync('openssl', args, { stdio: 'ignore', env, ...(cwd === undefined ? {} : { cwd }) });
}
