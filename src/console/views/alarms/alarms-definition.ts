/** The alarm desk. */
import { alarms } from '../../data/plant.js';
import { words } from '../../common/strings.js';
import { isUnacknowledged } from '../../plant/alarm.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const alarmsView: ViewDefinition = {
  name: 'alarms',
  action: 'alarm:list',
  title: () => words({ en: 'Alarms', de: 'Alarme' }),
  waiting: { count: () => alarms.value.filter((alarm) => !alarm.shelved && isUnacknowledged(alarm)).length, urgent: true },
  component: later(() => import('./alarms-view.js').then(({ AlarmsView }) => AlarmsView)),
};
