/** Which of the two consoles this page is, and which of its views is shown. */
import { computed, signal } from '@preact/signals';
import { can } from '../data/session.js';
import { type ConsolePath, view } from '../data/view.js';
import type { ViewDefinition } from './view-definition.js';

export interface Console {
  readonly path: ConsolePath;
  readonly title: () => string;
  /** Those with an action have a place in the navigation, in this order, for whoever may do it; the others are opened from them. */
  readonly views: readonly ViewDefinition[];
  /** Shows the alarm banner above everything: what an operator must not miss. */
  readonly hasBanner: boolean;
}

export const shown = signal<Console>({ path: '/hmi', title: () => '', views: [], hasBanner: false });

/** Those that have a place, for the person who is there. */
export const places = computed(() => shown.value.views.filter(({ action }) => action !== undefined && can(action)));

/** An address without a view shows the first that the person may see; undefined where it names one that is not there. */
export const current = computed<ViewDefinition | undefined>(() => {
  const { views } = shown.value;
  if (view.value.name === '') return places.value[0] ?? views[0];
  return views.find(({ name }) => name === view.value.name);
});
