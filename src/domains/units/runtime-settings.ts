/** What of the settings the runtime of a unit works by. */
import type { RuntimeSettings } from '../../../runtime/port.js';
import type { SettingValues } from '../../settings.js';

export type RuntimeSettingValues = Pick<
  SettingValues,
  'stLoopLimit' | 'stStatementBudget' | 'exceptionChartTimeoutMs' | 'retainIntervalMs' | 'readbackTimeoutMs' | 'lostHoldDelayMs' | 'resumeCancelsPause' | 'orphanTimeoutMs'
>;

export function runtimeSettings(settings: RuntimeSettingValues): RuntimeSettings {
  return {
    loopLimit: settings.stLoopLimit,
    statementBudget: settings.stStatementBudget,
    exceptionChartTimeoutMs: settings.exceptionChartTimeoutMs,
    retainIntervalMs: settings.retainIntervalMs,
    readbackTimeoutMs: settings.readbackTimeoutMs,
    ioLostHoldDelayMs: settings.lostHoldDelayMs,
    resumeCancelsPause: settings.resumeCancelsPause,
    orphanTimeoutMs: settings.orphanTimeoutMs,
  };
}
