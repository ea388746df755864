/** Every remote command, in the order of its help. */
import { ALARM_COMMANDS } from './alarms.js';
import { AUDIT_COMMANDS } from './audit.js';
import { BATCH_COMMANDS } from './batches.js';
import type { CommandRow } from './command.js';
import { CABLE_COMMANDS } from './cable.js';
import { CHANGE_COMMANDS } from './changes.js';
import { COMPLETION_COMMANDS } from './completion.js';
import { EQUIPMENT_COMMANDS } from './equipment.js';
import { FAULT_COMMANDS } from './faults.js';
import { HOLD_COMMANDS } from './holds.js';
import { IMPORT_COMMANDS } from './import-mtp.js';
import { IO_COMMANDS } from './io.js';
import { KEY_COMMANDS } from './keys.js';
import { LOGIN_COMMANDS } from './login.js';
import { LOG_COMMANDS } from './logs.js';
import { LOOP_CHECK_COMMANDS } from './loop-checks.js';
import { BATCH_MODE_COMMANDS, MODE_COMMANDS } from './modes.js';
import { OPCUA_COMMANDS } from './opcua.js';
import { OPCUA_TRUST_COMMANDS } from './opcua-trust.js';
import { ORDER_COMMANDS } from './orders.js';
import { PHASE_COMMANDS } from './phases.js';
import { PLANT_COMMANDS } from './plant.js';
import { PROMPT_COMMANDS } from './prompts.js';
import { RECIPE_COMMANDS } from './recipes.js';
import { RECORD_COMMANDS } from './records.js';
import { RECORD_STATUS_COMMANDS } from './record-status.js';
import { RESOURCE_COMMANDS } from './resources.js';
import { RESTORED_COMMANDS } from './restored.js';
import { REVIEW_COMMANDS } from './reviews.js';
import { SECOND_FACTOR_COMMANDS } from './second-factor.js';
import { SECRET_COMMANDS } from './secrets.js';
import { SNAPSHOT_COMMANDS } from './snapshots.js';
import { SESSION_COMMANDS } from './sessions.js';
import { USER_COMMANDS } from './users.js';
import { WATCH_COMMANDS } from './watch.js';

export const COMMANDS: readonly CommandRow[] = [
  ...LOGIN_COMMANDS,
  ...SECOND_FACTOR_COMMANDS,
  ...SESSION_COMMANDS,
  ...USER_COMMANDS,
  ...KEY_COMMANDS,
  ...RESTORED_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...PLANT_COMMANDS,
  ...SNAPSHOT_COMMANDS,
  ...CHANGE_COMMANDS,
  ...IO_COMMANDS,
  ...LOOP_CHECK_COMMANDS,
  ...CABLE_COMMANDS,
  ...SECRET_COMMANDS,
  ...OPCUA_COMMANDS,
  ...OPCUA_TRUST_COMMANDS,
  ...IMPORT_COMMANDS,
  ...EQUIPMENT_COMMANDS,
  ...FAULT_COMMANDS,
  ...MODE_COMMANDS,
  ...RECIPE_COMMANDS,
  ...ORDER_COMMANDS,
  ...BATCH_COMMANDS,
  ...BATCH_MODE_COMMANDS,
  ...PHASE_COMMANDS,
  ...PROMPT_COMMANDS,
  ...ALARM_COMMANDS,
  ...RECORD_COMMANDS,
  ...RECORD_STATUS_COMMANDS,
  ...HOLD_COMMANDS,
  ...REVIEW_COMMANDS,
  ...AUDIT_COMMANDS,
  ...WATCH_COMMANDS,
  ...LOG_COMMANDS,
  ...COMPLETION_COMMANDS,
];
