#!/usr/bin/env node
// Exit code 0 when the appliance on this machine says that it serves, 1 otherwise: the health check of a container engine.
// `health.js [address]`; the address is that of /readyz where port or certificate are not the usual ones.
const [, , address = `http://127.0.0.1:${process.env.LINESIDE_GATEWAY__HTTPPORT ?? 8090}/readyz`] = process.argv;

try {
  const { ok, status } = await fetch(address, { signal: AbortSignal.timeout(4000) });
  console.log(`${address} answers ${status}`);
  process.exitCode = ok ? 0 : 1;
} catch (fault) {
  console.log(`${address} does not answer: ${fault.cause?.message ?? fault.message}`);
  process.exitCode = 1;
}
