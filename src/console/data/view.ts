/** Which view is shown, kept in the fragment of the address: the back button works, and a view can be a bookmark of the panel. */
import { signal } from '@preact/signals';

/** In the order of the navigation; `unit` and `batch` are opened from the others. */
export const PLACES = ['overview', 'alarms', 'prompts', 'trends', 'audit'] as const;
export type Place = (typeof PLACES)[number];
export type ViewName = Place | 'unit' | 'batch';

export interface View {
  readonly name: ViewName;
  /** Of the unit or batch; empty for the others. */
  readonly id: string;
}

const NAMES: readonly string[] = [...PLACES, 'unit', 'batch'];

export const view = signal<View>(read());

window.addEventListener('hashchange', () => {
  view.value = read();
});

function read(): View {
  const [name = '', id = ''] = location.hash.replace(/^#\/?/, '').split('/');
  return { name: NAMES.includes(name) ? (name as ViewName) : 'overview', id: plain(id) };
}

/** An address that somebody typed may hold anything. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function addressOf(name: ViewName, id = ''): string {
  return id === '' ? `#/${name}` : `#/${name}/${encodeURIComponent(id)}`;
}

export function show(name: ViewName, id = ''): void {
  location.hash = addressOf(name, id);
}
