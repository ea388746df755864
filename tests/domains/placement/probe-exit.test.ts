/** Real probe threads: what the end of one leaves behind. */
import t from 'tap';
import { LocalProbes } from '../../../src/domains/placement/local-probes.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { createLog } from '../../../src/platform/base/log.js';
import { CONNECTION, IMAGE_HEADER } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { eventually } from '../../support/api-client.js';

t.test('D-IO-01: with the thread of a probe every input is Bad and every connection lost, at once; the next life begins within its images', async (t) => {
  process.env.LINESIDE_LOG_LEVEL ??= 'silent';
  const settings = { reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 };
  const probes = new LocalProbes({ clock: systemClock, log: createLog(), goAhead: false, settings });
  t.teardown(() => probes.stop());
  const image = probes.image('north', 'sim', ['level']);
  const channel = { name: 'level', address: 'level', direction: 'input' as const, dataType: 'float' as const, readbackAddress: '', pollIntervalMs: 0 };
  const options = { tick: '50ms' };
  probes.run('north', 'edge', [
    { site: 'north', module: 'sim', protocol: 'simulation', address: '', options, channels: [channel], simulation: { seed: 1, behaviors: [], faults: [] }, image: image.buffer },
  ]);
  const good = (): boolean => image.quality[0] === QUALITY.Good && Atomics.load(image.header, IMAGE_HEADER.connection) === CONNECTION.connected;
  await eventually('the first sample', async () => good());
  Atomics.or(image.header, IMAGE_HEADER.version, 1); // as if it ended within a write
  probes.restart('north', 'sim');
  await eventually('the image is abandoned', async () => image.quality[0] === QUALITY.Bad);
  t.equal(Atomics.load(image.header, IMAGE_HEADER.connection), CONNECTION.lost);
  await eventually('the next life', async () => good());
  const copy = { value: new Float64Array(1), sampledAtMs: new Float64Array(1), sampledMonoMs: new Float64Array(1), quality: new Uint8Array(1) };
  await eventually('a scan can read it', async () => image.latch(copy) && copy.quality[0] === QUALITY.Good);
});

t.test('an image belongs to one list of channels, whatever characters their addresses have', async (t) => {
  const probes = new LocalProbes({ clock: systemClock, log: createLog(), settings: { reconnectMinMs: 1, reconnectMaxMs: 1, readbackTimeoutMs: 1 } });
  const one = probes.image('north', 'ua', ['ns=2;s=a|1|ns=2;s=b']);
  const two = probes.image('north', 'ua', ['ns=2;s=a|1', 'ns=2;s=b']);
  t.same([one.size, two.size], [1, 2]);
  t.equal(probes.image('north', 'ua', ['ns=2;s=a|1', 'ns=2;s=b']), two);
});
