/**
 * The simulation behind the driver seam: one module in a group of its own. The probe keeps all modules of a controller
 * in one group instead, because they tick together; this form serves tools and the conformance suite.
 */
import type { Barred, Driver, Link, Point, SampleSink, WriteOutcome } from '../driver.js';
import type { Value } from '../../vocabulary/data-types.js';
import { Signal } from '../signal.js';
import { convertValue } from '../values.js';
import { simulationDescription } from './description.js';
import { SimulationGroup } from './group.js';

const READBACK_TIMEOUT_MS = 5000;

function deliver(sink: SampleSink, position: number, value: Value): void {
  if (typeof value === 'string') sink.text(position, value);
  else sink.number(position, Number(value));
}

export const simulationDriver: Driver = {
  ...simulationDescription,
  async connect(module, clock): Promise<Link> {
    const lost = new Signal();
    let problem = '';
    const group = new SimulationGroup({
      clock,
      random: Math.random,
      settings: () => ({ reconnectMinMs: 0, reconnectMaxMs: 0, readbackTimeoutMs: READBACK_TIMEOUT_MS }),
      report: (_module, state, message) => {
        if (state === 'Failed') problem = message;
      },
      nextAttempt: () => undefined,
      resumed: () => undefined,
      holdEnded: () => undefined,
      fault: (_module, fault) => {
        problem = fault instanceof Error ? fault.message : String(fault);
      },
    });
    group.configure([module], 1);
    if (problem !== '') {
      group.close();
      throw new Error(problem);
    }
    group.tick();
    return {
      lost: lost.promise,
      async read(points, sink) {
        sink.begin();
        const samples = group.read(
          module.module,
          points.map((point) => point.address),
        );
        samples.forEach((sample, position) => {
          if (lost.reason !== undefined) sink.bad(position, lost.reason);
          else if (sample.quality === 'Bad') sink.bad(position, sample.message);
          else deliver(sink, position, sample.value);
        });
        sink.end();
        return lost.reason === undefined ? { status: 'answered' } : { status: 'lost', message: lost.reason };
      },
      async write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
        const stopped = barred?.();
        if (stopped) return stopped;
        if (lost.reason !== undefined) return { ok: false, reason: 'unreachable', message: lost.reason };
        const converted = convertValue(value, point.dataType);
        if (converted === undefined) return { ok: false, reason: 'invalid', message: `${value} is not a ${point.dataType}` };
        if (!group.control(module.module, point.address, converted)) return { ok: false, reason: 'invalid', message: `no channel ${point.address}` };
        group.tick();
        return { ok: true };
      },
      async close() {
        group.close();
        lost.raise('the connection was closed here');
      },
    };
  },
};
