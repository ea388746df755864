/** The place of the navigation that the administrator's views share. */
import { words } from '../common/strings.js';
import type { Section } from '../frame/view-definition.js';

export const administration: Section = { name: 'administration', title: () => words({ en: 'Administration', de: 'Verwaltung' }) };
