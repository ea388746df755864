/** What the fields of a controller mean (contract 3, Controller). */
export const CONTROLLER_WORDS = {
  displayName: ['Name that people read, at most 63 characters. Empty: its own name.', 'Cabinet 1, ground floor'],
  nodeLabels: ['Labels that the node of the controller gets in a cluster.', { 'plant.example/line': 'a' }],
  simulation: 'True: a box that does not exist. No node is expected behind it, and it runs simulated I/O modules.',
} as const;
