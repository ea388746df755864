/** The OPC UA driver; the library behind it is loaded with it, so only where there is such a module. */
import type { Clock } from '../../vocabulary/clock.js';
import type { Driver } from '../driver.js';
import { numberOption, resolveOptions } from '../options.js';
import { opcuaDescription } from './description.js';
import { OpcUaLink } from './link.js';
import { openSession } from './open-session.js';
import { type Judge, watchTrust } from './trust-watch.js';
import type { Wire } from './wire.js';

export const opcuaDriver: Driver = {
  ...opcuaDescription,
  async connect(module, clock) {
    const options = resolveOptions(opcuaDescription.options, module.options);
    const url = opcuaDescription.parseAddress(module.address);
    if (!url.ok) throw new Error(url.message);
    if (!module.security) throw new Error('the module came without its security block');
    const timeoutMs = numberOption(options, 'timeout');
    const plan = {
      url: url.value,
      name: `Lineside ${module.site}/${module.module}`,
      security: module.security,
      credentials: module.credentials,
      sessionTimeoutMs: numberOption(options, 'sessionTimeout'),
      timeoutMs,
    };
    const { wire, user, judge } = await openSession(plan, clock);
    const link = new OpcUaLink(
      wire,
      user,
      {
        mode: options.mode === 'poll' ? 'poll' : 'subscribe',
        batchSize: numberOption(options, 'batchSize'),
        retries: numberOption(options, 'retries'),
        timeoutMs,
        publishingIntervalMs: numberOption(options, 'publishingInterval'),
        samplingIntervalMs: numberOption(options, 'samplingInterval'),
      },
      clock,
    );
    try {
      await link.prepare();
      if (judge) endWithTrust(wire, judge, clock);
      return link;
    } catch (fault) {
      await link.close();
      throw fault;
    }
  },
};

function endWithTrust(wire: Wire, judge: Judge, clock: Clock): void {
  const end = (reason: string): void => {
    wire.close(`the server is no longer trusted: ${reason}`).catch(() => undefined); // it is given up either way
  };
  const stop = watchTrust(judge, end, clock);
  wire.lost.then(stop, stop);
}
