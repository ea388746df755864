/** Heat: a processor that is too hot slows itself down, and scans with it. */
import { type Check, untold } from '../check.js';

const ZONES = 'sys/class/thermal';
const CPUS = 'sys/devices/system/cpu';
/** Where a zone names no limit of its own. */
const HOT_C = 85;
const MARGIN_C = 10;

interface Zone {
  readonly name: string;
  readonly degreesC: number;
  /** From here on the zone is hot or passive, that is, slows the processor down. */
  readonly limitC: number;
}

export const thermal: Check = {
  name: 'thermal',
  look({ machine }) {
    const zones = machine.names(ZONES).flatMap((folder): Zone[] => {
      const milli = folder.startsWith('thermal_zone') ? machine.number(`${ZONES}/${folder}/temp`) : undefined;
      if (milli === undefined) return [];
      const trips = machine.names(`${ZONES}/${folder}`).flatMap((file) => {
        const number = /^trip_point_(\d+)_type$/.exec(file)?.[1];
        const isLimit = number !== undefined && ['passive', 'hot'].includes(machine.text(`${ZONES}/${folder}/${file}`) ?? '');
        return isLimit ? (machine.number(`${ZONES}/${folder}/trip_point_${number}_temp`) ?? []) : [];
      });
      const above = trips.filter((trip) => trip > 0);
      return [{ name: machine.text(`${ZONES}/${folder}/type`) ?? folder, degreesC: milli / 1000, limitC: above.length > 0 ? Math.min(...above) / 1000 : HOT_C }];
    });
    const throttled = machine
      .names(CPUS)
      .filter((name) => /^cpu\d+$/.test(name))
      .reduce((sum, cpu) => sum + (machine.number(`${CPUS}/${cpu}/thermal_throttle/core_throttle_count`) ?? 0), 0);
    const limit = `${MARGIN_C} degrees below the limit of each zone, never slowed down since the boot`;
    if (zones.length === 0 && throttled === 0) return untold('no temperature can be read', limit, 'whether the processor is slowed down by heat is not known');
    const hot = zones.filter(({ degreesC, limitC }) => degreesC >= limitC);
    const warm = zones.filter(({ degreesC, limitC }) => degreesC >= limitC - MARGIN_C);
    const verdict = hot.length > 0 ? 'fault' : warm.length > 0 || throttled > 0 ? 'warning' : 'ok';
    const measured = zones.map(({ name, degreesC, limitC }) => `${name} ${degreesC.toFixed(0)} of ${limitC.toFixed(0)} degrees C`);
    return {
      verdict,
      measured: [...measured, `slowed down ${throttled} times since the boot`].join(', '),
      limit,
      meaning: verdict === 'ok' ? 'the processor keeps its speed' : 'the processor slows down, and scans take longer than they were measured to',
      whatToDo: verdict === 'ok' ? '' : 'look after fan, dust and the temperature in the cabinet',
    };
  },
};
