/** The appliance in rescue (D-C-09): no thread is started and nothing is opened, so what is there stays as it is until somebody decides. */
import { systemClock } from '../platform/base/clock.js';
import type { Log } from '../platform/base/log.js';
import type { Parts } from '../platform/base/parts.js';
import { openDocuments } from '../platform/http/documents.js';
import { tlsOf } from '../platform/http/listen.js';
import { startRescue } from '../platform/http/rescue.js';
import type { TlsPair } from '../platform/tls/certificate.js';
import { SelfSignedSource } from '../platform/tls/self-signed-source.js';
import type { Settings } from '../settings.js';
import { type Appliance, textOf } from './appliance.js';
import { certificateSource } from './gateway-tls.js';

/** Why nothing may be driven. */
export interface Loss {
  readonly why: string;
  /** What is missing or has failed, in sentences. */
  readonly losses: readonly string[];
  readonly waysOn: readonly string[];
}

/** The appliance would start in rescue, and was told not to (`--no-rescue`): exit code 3. */
export class RescueNeeded extends Error {}

/** Nothing is written into the data directory: where the box serves a certificate of its own and there is none, it is made for this process alone. */
function rescueTls(settings: Settings): TlsPair | undefined {
  const source = certificateSource(settings, systemClock);
  if (!source) return undefined;
  if (source.kind === 'files') return tlsOf(source.files);
  try {
    return tlsOf(source.files);
  } catch {
    const pem = Buffer.from(new SelfSignedSource({ ...settings, clock: systemClock }).text(), 'latin1');
    return { cert: pem, key: pem };
  }
}

/** @throws RescueNeeded where nobody is there to look at it. */
export async function startInRescue(settings: Settings, loss: Loss & { readonly documentsFolder: string }, log: Log, parts: Parts): Promise<Appliance> {
  const { losses, why } = loss;
  if (settings.noRescue) throw new RescueNeeded(`${losses.join('; ')}. Ways on: ${loss.waysOn.join('; ')}`);
  const { listen, httpPort } = settings;
  const tls = rescueTls(settings);
  const server = parts.add(
    await startRescue({
      host: listen,
      port: httpPort,
      ...(tls ? { tls } : {}),
      ...loss,
      documents: openDocuments(loss.documentsFolder),
      clock: systemClock,
      tell: (what) => log.warn(what),
    }),
  );
  log.error({ missing: losses, why }, 'lineside is in rescue: no unit is driven');
  return {
    port: server.port,
    scheme: tls ? 'https' : 'http',
    fingerprint: '',
    rows: [],
    commissioningCode: '',
    resourceVersion: 0,
    rescue: losses,
    waysOn: loss.waysOn,
    condition: `in rescue, no unit is driven: ${losses.join('; ')}`,
    look: () => undefined,
    reload: () => Promise.resolve(),
    stop: () => parts.stop(),
    async fail(fault) {
      log.fatal({ fault: textOf(fault) }, 'nobody caught a fault of ours: the process ends');
    },
  };
}
