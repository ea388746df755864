/**
 * What keeps the appliance from starting until somebody puts it right: a setting, the data directory, the files of `gateway.tls` or a port
 * that another program has. The message is one sentence that names it and says what to do; another start would say the same (exit code 2).
 *
 * Whatever else ends a start may be gone the next time, or is a fault of this program: exit code 70, counted, and started again.
 */
export class StartRefused extends Error {}
