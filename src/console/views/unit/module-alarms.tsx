/** Alarms of one module that call for somebody, the worst first, with the way to all of them. */
import { alarms } from '../../data/plant.js';
import type { ModuleInfo } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { annunciated, sourceName } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';

const said = words({
  en: { none: 'No alarm of this module stands or waits for its acknowledgement.', all: 'All alarms' },
  de: { none: 'Kein Alarm dieses Moduls steht an oder wartet auf Quittierung.', all: 'Alle Alarme' },
});

export function alarmsOf(module: string) {
  return annunciated(alarms.value).filter((alarm) => sourceName(alarm) === module);
}

export function ModuleAlarms({ module }: { readonly module: ModuleInfo }) {
  const own = alarmsOf(module.name);
  return (
    <div class="stack" data-testid="module-alarms">
      {own.length === 0 && <p class="hint">{said.none}</p>}
      <ul class="lines">
        {own.map((alarm) => (
          <li class="line" key={alarm.name}>
            <span class="line-name">
              <SeverityBadge severity={alarm.severity} past={alarm.state.startsWith('Cleared')} hasWord={false} /> {alarm.message || alarm.name}
            </span>
            <span class="hint number">
              {word(alarm.state)} {momentText(alarm.activatedAt)}
            </span>
          </li>
        ))}
      </ul>
      <a class="button" href={addressOf('alarms')}>
        {said.all}
      </a>
    </div>
  );
}
