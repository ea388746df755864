/** A list that is short of entries must not look like one that has them all. */
import { words } from './strings.js';

const said = words({
  en: {
    one: (entry: string) => `Entry ${entry} is damaged on the disk of the box and missing here.`,
    some: (entries: string, more: number) => `Entries ${entries}${more > 0 ? ` and ${more} more` : ''} are damaged on the disk of the box and missing here.`,
  },
  de: {
    one: (entry: string) => `Der Eintrag ${entry} ist auf dem Datenträger der Box beschädigt und fehlt hier.`,
    some: (entries: string, more: number) => `Die Einträge ${entries}${more > 0 ? ` und ${more} weitere` : ''} sind auf dem Datenträger der Box beschädigt und fehlen hier.`,
  },
});

const NAMED_MAX = 5;

/** @param entries numbers or names, as the gateway tells them. */
export function Damaged({ entries }: { readonly entries: readonly (string | number)[] }) {
  const [first] = entries;
  if (first === undefined) return null;
  return (
    <p class="fault" role="status" data-testid="damaged-entries">
      {entries.length === 1 ? said.one(String(first)) : said.some(entries.slice(0, NAMED_MAX).join(', '), entries.length - NAMED_MAX)}
    </p>
  );
}
