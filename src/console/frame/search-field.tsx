/** One field that finds anything by its words; `/` goes to it from anywhere. */
import { useEffect, useRef } from 'preact/hooks';
import { can } from '../data/session.js';
import { show, view } from '../data/view.js';
import { t } from '../common/strings.js';

export function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  if (!can('search:read')) return null;
  const find = (event: SubmitEvent): void => {
    event.preventDefault();
    const words = field.current?.value.trim() ?? '';
    if (words !== '') show('search', '', { q: words });
  };
  return (
    <form class="find" role="search" onSubmit={find}>
      <input
        ref={field}
        class="select"
        type="search"
        aria-label={t.findAnything}
        aria-keyshortcuts="/"
        placeholder={t.findAnything}
        maxLength={200}
        value={view.value.name === 'search' ? (view.value.query.q ?? '') : ''}
        data-testid="find"
      />
    </form>
  );
}
