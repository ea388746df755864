/** Controller (contract 3, Controller): the box in a cabinet. `phase` is its adoption, `health` whether it works now. */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { Flag } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import type { Kind, StatusMembers } from '../../platform/store/kind.js';
import { CONTROLLER_WORDS } from './field-words.js';

const DISPLAY_NAME_MAX = 63; // contract 3, Limits: characters, not the units a string is stored in

export const DisplayName = v.pipe(
  v.string(),
  v.check((text) => [...text].length <= DISPLAY_NAME_MAX, `must have at most ${DISPLAY_NAME_MAX} characters`),
  v.regex(/^[^\u0000-\u001f\u007f-\u009f]*$/u, 'must not have control characters'),
);

export const ControllerSpec = v.strictObject({
  displayName: v.optional(DisplayName, ''),
  nodeLabels: v.optional(freeMap(v.string()), {}),
  /** Stands for a simulated box: no node is expected behind it. */
  simulation: Flag,
});
export type ControllerSpec = v.InferOutput<typeof ControllerSpec>;

describeFields(ControllerSpec, CONTROLLER_WORDS);

export const CONTROLLER_PHASES = ['Pending', 'Joining', 'Joined', 'Failed', 'Removing'] as const;
export const CONTROLLER_HEALTHS = ['healthy', 'degraded', 'offline', 'unknown'] as const;

export interface ControllerStatus {
  readonly phase: (typeof CONTROLLER_PHASES)[number];
  readonly health: (typeof CONTROLLER_HEALTHS)[number];
  readonly healthReason: string;
  readonly address: string;
  readonly nodeRef: string;
  /** Presentation name of the bound node; the spec's own until there is a node. */
  readonly displayName: string;
  readonly ioProbePodName: string;
  readonly ioProbeReady: boolean;
  readonly lastAlive: string;
}

const CONTROLLER_STATUS: StatusMembers<ControllerStatus> = {
  phase: v.picklist(CONTROLLER_PHASES),
  health: v.picklist(CONTROLLER_HEALTHS),
  healthReason: v.string(),
  address: v.string(),
  nodeRef: v.string(),
  displayName: v.string(),
  ioProbePodName: v.string(),
  ioProbeReady: v.boolean(),
  lastAlive: v.string(),
};

export const Controller: Kind<ControllerSpec, ControllerStatus> = {
  kind: 'Controller',
  group: 'physical',
  scope: 'site',
  action: 'controller',
  path: 'controllers',
  spec: ControllerSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: ({ displayName, simulation }) => ({
    phase: simulation ? 'Joined' : 'Pending',
    health: 'unknown',
    healthReason: '',
    address: '',
    nodeRef: '',
    displayName,
    ioProbePodName: '',
    ioProbeReady: false,
    lastAlive: '',
  }),
  status: CONTROLLER_STATUS,
  mendsStatus: true,
};
