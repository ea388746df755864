/** What the procedures ask of people. */
import { prompts } from '../../data/plant.js';
import { words } from '../../common/strings.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const promptsView: ViewDefinition = {
  name: 'prompts',
  action: 'phase:list-prompts',
  title: () => words({ en: 'Prompts', de: 'Anfragen' }),
  waiting: { count: () => prompts.value.length, urgent: false },
  component: later(() => import('./prompts-view.js').then(({ PromptsView }) => PromptsView)),
};
