/** Words that the list of records and a record share. */
import { words } from '../../common/strings.js';
import type { Section } from '../../frame/view-definition.js';

const PHASES: Readonly<Record<string, string>> = words({
  en: { Open: 'Open', Reviewed: 'Reviewed', Finalized: 'Finalized' },
  de: { Open: 'Offen', Reviewed: 'Geprüft', Finalized: 'Abgeschlossen' },
});

export function phaseText(phase: string): string {
  return PHASES[phase] ?? phase;
}

export const recordsSection: Section = { name: 'records', title: () => words({ en: 'Records', de: 'Chargenprotokolle' }) };
