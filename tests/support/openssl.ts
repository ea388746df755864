/** The command openssl with the configuration of its installation: the OPC UA library names another one to its process, which may be gone by now. */
import { execFile, execFileSync } from 'node:child_process';

export function openssl(args: readonly string[], cwd?: string): void {
  const { OPENSSL_CONF: _ofTheLibrary, ...env } = process.env;
  execFileSync('openssl', args, { stdio: 'ignore', env, ...(cwd === undefined ? {} : { cwd }) });
}

/** What it prints on both streams, whatever comes of it; its input is empty. */
export function opensslSays(args: readonly string[]): Promise<string> {
  const { OPENSSL_CONF: _ofTheLibrary, ...env } = process.env;
  return new Promise((resolve) => {
    const child = execFile('openssl', args, { env }, (_fault, out, said) => resolve(out + said));
    child.stdin?.end();
  });
}
