/** Whoever reads what a command prints may have gone: `lineside watch | head`, `lineside doctor | head -3`. There is nothing left to do for him. */

/** As a shell tells that a program ended by SIGPIPE: a verdict that nobody has read is none. */
const UNREAD_EXIT = 141;

/** Commands that come to no verdict have set their exit code before. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (fault) => {
      endIfUnread(fault);
      throw fault;
    });
}

/** Also of a fault as it is thrown by a write that waits until it is done. */
export function endIfUnread(fault: unknown): void {
  if ((fault as { readonly code?: unknown } | null)?.code === 'EPIPE') process.exit(process.exitCode ?? UNREAD_EXIT);
}
