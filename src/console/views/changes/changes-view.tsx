/** Change requests (contract 3, Additional routes; decisions Q-CHANGE-01 to 04): who asks for what and why, read beside what is there now, and decided by a second person. */
import { listPage } from '../../data/listed.js';
import { site } from '../../data/plant.js';
import type { ChangeRequest } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { t, word } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';
import { ChangeRequestPage } from './change-request.js';
import { text } from './changes-words.js';

export const changesView: ViewDefinition = { name: 'changes', action: 'changerequest:list', section: administration, title: () => text.title, component: ChangesView };

const PHASES = ['', 'Pending', 'Approved', 'Applied', 'Rejected', 'Withdrawn', 'Failed', 'Expired'] as const;

const COLUMNS: readonly Column<ChangeRequest>[] = [
  { key: 'name', title: text.name, cell: ({ name }) => name },
  { key: 'what', title: text.what, cell: ({ spec: { operation, target } }) => `${text.operations[operation]}: ${word(target.kind)} ${target.name}` },
  { key: 'why', title: t.reason, cell: ({ spec }) => spec.reason },
  { key: 'risk', title: text.risk, cell: ({ spec }) => text.risks[spec.risk] },
  { key: 'author', title: text.author, cell: ({ status }) => status.author },
  { key: 'created', title: text.created, cell: ({ status }) => fullMomentText(status.createdAt), isNumber: true },
  { key: 'phase', title: text.phase, cell: ({ status }) => text.phases[status.phase] },
];

function ChangesView({ id }: { readonly id: string }) {
  return id === '' ? <Requests /> : <ChangeRequestPage key={id} place={id} />;
}

function Requests() {
  const { phase = '' } = view.value.query;
  const rows = useLog((cursor) => listPage<ChangeRequest>('/api/v1/changerequests', { site: site.value, phase }, cursor), [site.value, phase]);
  return (
    <section class="panel page" aria-labelledby="changes-title" data-testid="changes-view">
      <header class="page-head">
        <h2 id="changes-title">{text.title}</h2>
        <div class="page-filters">
          <select class="select" aria-label={text.phase} value={phase} onChange={(event) => narrow({ phase: event.currentTarget.value })} data-testid="changes-phase">
            {PHASES.map((each) => (
              <option key={each} value={each}>
                {each === '' ? text.every : text.phases[each]}
              </option>
            ))}
          </select>
        </div>
      </header>
      <Table
        label={text.title}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ namespace, name }) => `${namespace}/${name}`}
        hrefOf={({ namespace, name }) => addressOf('changes', `${namespace}/${name}`)}
        empty={text.none}
        testid="changes"
      />
    </section>
  );
}
