/** Which view is shown, kept in the fragment of the address: the back button works, and a view can be a bookmark of the panel. */
import { signal } from '@preact/signals';

export interface View {
  /** Of the views of `hmi/views.ts`, unless somebody typed another. */
  readonly name: string;
  /** Of the unit or batch; empty for the others. */
  readonly id: string;
}

export const view = signal<View>(read());

window.addEventListener('hashchange', () => {
  view.value = read();
});

function read(): View {
  const [name = '', id = ''] = location.hash.replace(/^#\/?/, '').split('/');
  return { name, id: plain(id) };
}

/** An address that somebody typed may hold anything. */
function plain(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function addressOf(name: string, id = ''): string {
  return id === '' ? `#/${name}` : `#/${name}/${encodeURIComponent(id)}`;
}

export function show(name: string, id = ''): void {
  location.hash = addressOf(name, id);
}
