/** What the fields of coordination mean (contract 3, Other kinds; decisions 1.6, 2.7). */
import { DESCRIPTION } from '../../platform/store/field-words.js';

const SHARED = {
  ...DESCRIPTION,
  batchRef: ['Name of the batch. Empty: a pattern, of which each batch of a recipe that names it gets a copy of its own.', 'b-2041'],
  timeoutSeconds: ['How long is waited once it is active, in seconds. 0: without end.', 600],
} as const;

export const ENDPOINT_WORDS = {
  kind: 'Level of the element.',
  name: ['Name of the element. In a pattern: its step path.', 'makeResin/charge/receive'],
  namespace: ['Namespace of its site, site-<site>. Left out: the same site.', 'site-north'],
  unitRef: ['Unit that the element runs on. Empty: any.', 'reactor-1'],
} as const;

export const WAITING_WORDS = {
  ...ENDPOINT_WORDS,
  waitFor: 'Start: the element does not start before. Chart: its chart waits by itself, with READ of the signal.',
} as const;

export const SIGNAL_WORDS = {
  signalName: ["Name of the signal, an identifier. Charts read it with READ('signal:<name>').", 'resinReady'],
  producer: 'Element that raises the signal.',
  consumers: 'Elements that wait for it, 1 to 16.',
  condition: ['Condition in structured text over what the producer knows. Empty: the signal is raised when the producer is Complete.', 'level > 50.0'],
} as const;

export const COORDINATION_BLOCK_WORDS = {
  ...SHARED,
  mode: 'How elements are coordinated.',
  signal: 'The signal. Mode Signal needs it.',
} as const;

export const SYNC_BARRIER_WORDS = {
  ...SHARED,
  participants: 'Elements that wait for each other, 2 to 16.',
  count: 'How many must have arrived. 0: all.',
} as const;
