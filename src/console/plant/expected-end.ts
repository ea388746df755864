/** When a batch will be done, by earlier ones of its recipe: of one that stands, how long after it goes on. */
import { plannedOf } from '../data/plan.js';
import { words } from '../common/strings.js';
import { ageText, minuteText } from '../common/text.js';

const said = words({
  en: {
    ends: (at: string) => `ends about ${at}`,
    after: (age: string) => `end open, about ${age} once it goes on`,
    afterAnswers: (age: string) => `end open, about ${age} once it goes on, and the answers`,
    open: 'end open',
    noExperience: 'no experience yet',
  },
  de: {
    ends: (at: string) => `endet etwa ${at}`,
    after: (age: string) => `nach dem Weiterfahren noch etwa ${age}`,
    afterAnswers: (age: string) => `nach dem Weiterfahren noch etwa ${age}, und die Antworten`,
    open: 'Ende offen',
    noExperience: 'noch keine Erfahrung',
  },
});

/** Empty of a batch that is not planned, as one that has ended. */
export function endText(batch: string): string {
  const planned = plannedOf(batch);
  if (!planned) return '';
  const { asks, endsAt, expectedSeconds, remainingSeconds } = planned;
  if (endsAt !== '') return said.ends(minuteText(endsAt));
  if (expectedSeconds === null) return said.noExperience;
  if (remainingSeconds === null) return said.open;
  return (asks ? said.afterAnswers : said.after)(ageText(0, remainingSeconds * 1000));
}
