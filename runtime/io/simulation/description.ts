/** The simulation protocol as the gateway knows it (decisions 7.3, 7.4). */
import { describe, parsed, refused } from '../description.js';
import { COMMON_OPTIONS } from '../options.js';
import { SIMULATED_ADDRESS } from './params.js';

export const simulationDescription = describe({
  protocol: 'simulation',
  options: [...COMMON_OPTIONS, { name: 'tick', type: 'duration', default: '100ms', min: 10, max: 60_000, meaning: 'plant time between two steps of the simulation' }],
  isSimulated: true,
  parseAddress: (text) => (text.trim() === '' ? parsed('') : refused('a simulated module has no address')),
  parseChannel(text) {
    if (SIMULATED_ADDRESS.test(text)) return parsed({ dataType: 'float' as const });
    return refused(`${text} must begin with a letter and hold at most 63 letters, digits, _ . -`);
  },
});
