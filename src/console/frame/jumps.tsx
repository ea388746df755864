/**
 * Short ways for whoever works with keys: the first Tab of a page offers them, Alt and a letter takes them from anywhere. A part of a view that is jumped to
 * says `data-jump` with the name of the way.
 */
import { useEffect } from 'preact/hooks';
import { can } from '../data/session.js';
import { show, view } from '../data/view.js';
import { words } from '../common/strings.js';
import { shown } from './console.js';

const said = words({
  en: { jumps: 'Short ways', content: 'To the content', commands: 'To the commands', acknowledge: 'To acknowledge alarms' },
  de: { jumps: 'Kurze Wege', content: 'Zum Inhalt', commands: 'Zu den Befehlen', acknowledge: 'Zum Quittieren der Alarme' },
});

interface Jump {
  readonly name: 'content' | 'commands' | 'acknowledge';
  /** With Alt. */
  readonly key: string;
  readonly go: () => void;
}

const FOCUSABLE = 'button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled)';

function toContent(): void {
  document.getElementById('main')?.focus();
}

/** Of the view that is shown; where it commands nothing, those of the batch on the first view. */
function toCommands(): void {
  if (focusIn('commands')) return;
  show('overview');
  whenDrawn('commands', toContent);
}

function toAlarms(): void {
  if (view.peek().name === 'alarms' && focusIn('acknowledge')) return;
  show('alarms');
  whenDrawn('acknowledge', toContent);
}

function focusIn(name: string): boolean {
  for (const part of document.querySelectorAll(`[data-jump="${name}"]`)) {
    const target = part.matches(FOCUSABLE) ? part : part.querySelector(FOCUSABLE);
    if (target instanceof HTMLElement && target.checkVisibility()) {
      target.focus();
      return true;
    }
  }
  return false;
}

const WAITS_MS = 2000;

/** A view is drawn a moment after it is shown, and what it reads later still. Whoever goes on by himself meanwhile is not called back. */
function whenDrawn(name: string, otherwise: () => void): void {
  const began = document.activeElement;
  const watch = new MutationObserver(() => {
    if (document.activeElement === began || document.activeElement === document.body ? focusIn(name) : true) end();
  });
  const end = (): void => {
    clearTimeout(timer);
    watch.disconnect();
  };
  const timer = window.setTimeout(() => {
    end();
    otherwise();
  }, WAITS_MS);
  if (focusIn(name)) return end();
  watch.observe(document.body, { childList: true, subtree: true });
}

function jumps(): readonly Jump[] {
  const isPanel = shown.value.hasBanner;
  return [
    { name: 'content', key: 'S', go: toContent },
    ...(isPanel && can('command:send') ? [{ name: 'commands', key: 'C', go: toCommands } as const] : []),
    ...(isPanel && can('alarm:acknowledge') ? [{ name: 'acknowledge', key: 'A', go: toAlarms } as const] : []),
  ];
}

export function Jumps() {
  const all = jumps();
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const jump = event.altKey && !event.ctrlKey && !event.metaKey ? all.find(({ key }) => event.code === `Key${key}`) : undefined;
      if (!jump || document.querySelector('dialog[open]')) return; // a question that is open is answered first
      event.preventDefault();
      jump.go();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [all.map(({ name }) => name).join()]);
  return (
    <nav class="jumps" aria-label={said.jumps}>
      {all.map(({ name, key, go }) => (
        <button type="button" class="button" key={name} aria-keyshortcuts={`Alt+${key}`} onClick={go} data-testid={`jump-${name}`}>
          {said[name]}
        </button>
      ))}
    </nav>
  );
}
