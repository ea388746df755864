import type { ComponentType } from 'preact';

/** What a view says of itself, beside its component. */
export interface ViewDefinition {
  /** In the address: `#/name`, or `#/name/id`. */
  readonly name: string;
  /** Whoever may not do it has no place for the view in the navigation; without it the view has none. */
  readonly action?: string;
  /** Shows things of a site: on a box that has none yet it says so. */
  readonly ofSite?: true;
  /** Views of one section share a place in the navigation and stand in a line of their own below it. */
  readonly section?: Section;
  /** In the navigation, and in the history of the browser. `id` as in the address. */
  readonly title: (id: string) => string;
  /** How many wait for somebody in the view, shown at its place; `urgent` as unacknowledged alarms are. */
  readonly waiting?: { readonly count: () => number; readonly urgent: boolean };
  readonly component: ComponentType<{ readonly id: string }>;
}

export interface Section {
  readonly name: string;
  readonly title: () => string;
}
