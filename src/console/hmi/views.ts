/**
 * The views: those with an action have a place in the navigation, in this order, for whoever may do it; the others are
 * opened from them. A further one is its file and a line here (docs/add/console-view.md).
 */
import { computed } from '@preact/signals';
import { view } from '../data/view.js';
import { alarmsView } from './alarms-view.js';
import { auditView } from './audit-view.js';
import { batchView } from './batch-view.js';
import { overviewView } from './overview.js';
import { panelsView } from './panels-view.js';
import { promptsView } from './prompts-view.js';
import { trendsView } from './trends-view.js';
import { unitView } from './unit-view.js';
import type { ViewDefinition } from './view-definition.js';

export const VIEWS: readonly ViewDefinition[] = [overviewView, alarmsView, promptsView, trendsView, auditView, unitView, batchView, panelsView];

/** An address of a view that is not there shows the first. */
export const current = computed(() => VIEWS.find(({ name }) => name === view.value.name) ?? overviewView);
