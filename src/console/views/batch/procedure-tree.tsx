/** The elements of the batch in the order of the recipe; the one touched shows its chart. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { choosePath, chosenPath, states, tree } from '../../data/procedure.js';
import { severityOf } from '../../data/states.js';
import { t, word } from '../../common/strings.js';

export function ProcedureTree() {
  const known = states.value;
  const list = useRef<HTMLUListElement>(null);
  const path = chosenPath.value;
  // the view opens at the phase that runs, which may be far down
  useLayoutEffect(() => list.current?.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' }), [path, tree.value]);
  if (tree.value.length === 0) return <p class="empty">{t.notStarted}</p>;
  return (
    <ul class="tree scroll" ref={list} tabIndex={0} aria-label={t.procedure} data-testid="tree">
      {tree.value.map(({ path, stepName, level }) => {
        const state = known.get(path)?.state ?? '';
        return (
          <li key={path}>
            <button
              type="button"
              class={`tree-row tree-${level} tree-${state === '' || state === 'Idle' ? 'waiting' : 'had'}`}
              aria-pressed={path === chosenPath.value}
              onClick={() => choosePath(path)}
              data-testid={`tree-${path === '' ? 'root' : path}`}
              data-state={state}
            >
              <span class="tree-name">{stepName || t.procedure}</span>
              <span class={`tree-state tree-state-${severityOf(state)}`}>{state === '' ? '' : word(state)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
