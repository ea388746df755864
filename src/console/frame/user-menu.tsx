import { useEffect, useRef, useState } from 'preact/hooks';
import { can, config, logout, me } from '../data/session.js';
import { addressOf } from '../data/view.js';
import { watching } from '../data/watching.js';
import { Chips } from '../common/chips.js';
import { LanguageChoice } from '../common/language-choice.js';
import { choose, LOOKS, look } from '../common/look.js';
import { t } from '../common/strings.js';
import { shown } from './console.js';
import { CertificateLine } from './certificate-line.js';
import { panelsView } from '../views/panels/panels-view.js';
import { passwordView } from '../views/password/password-view.js';
import { sessionsView } from '../views/sessions/sessions-view.js';
import { SecondFactorDialog } from './second-factor-dialog.js';

function tierText(tier: string | undefined): string {
  return tier === undefined ? '–' : (t.tiers[tier] ?? tier);
}

export function UserMenu() {
  const [open, setOpen] = useState(false);
  const [setsUp, setSetsUp] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      box.current?.querySelector('button')?.focus(); // what had the focus goes away with the menu
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('keydown', escape);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('keydown', escape);
    };
  }, [open]);
  const person = me.value;
  if (!person) return null;
  const setUp = (): void => {
    setOpen(false);
    setSetsUp(true);
  };
  return (
    <div class="user" ref={box}>
      <button
        type="button"
        class="icon-button"
        aria-expanded={open}
        aria-haspopup="true"
        aria-label={`${t.menu}: ${person.displayName}`}
        onClick={() => setOpen(!open)}
        data-testid="user-menu"
      >
        <span class="user-name">{person.displayName}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div class="menu" data-testid="user-menu-items">
          <p>
            <strong>{person.displayName}</strong>
            <br />
            <span class="hint">{person.username}</span>
          </p>
          <p class="hint">
            {t.rights}: {tierText(person.tiers.at(-1))}
          </p>
          <Chips label={t.look} value={look.value} options={LOOKS.map((each) => [each, t.looks[each]])} onChoose={choose} testid="look" />
          <LanguageChoice />
          <p class="hint">{t.keys}</p>
          <CertificateLine />
          <a class="button" href="/docs" data-testid="documents">
            {t.documents}
          </a>
          {can('search:read') && (
            <a class="button" href={addressOf('search')} onClick={() => setOpen(false)} data-testid="open-search">
              {t.findAnything}
            </a>
          )}
          <OtherConsole />
          {can('panel:list') && (
            <a class="button" href={addressOf('panels')} onClick={() => setOpen(false)} data-testid="open-panels">
              {panelsView.title('')}
            </a>
          )}
          {config.value?.authMode !== 'none' && !watching.value && (
            <a class="button" href={addressOf('sessions')} onClick={() => setOpen(false)} data-testid="open-sessions">
              {sessionsView.title('')}
            </a>
          )}
          {config.value?.authMode === 'local' && !watching.value && (
            <a class="button" href={addressOf('password')} onClick={() => setOpen(false)} data-testid="open-password">
              {passwordView.title('')}
            </a>
          )}
          {config.value?.authMode === 'local' && !watching.value && (
            <button type="button" class="button" onClick={setUp} data-testid="second-factor">
              {t.secondFactor}
            </button>
          )}
          {config.value?.authMode !== 'none' && !watching.value && (
            <button type="button" class="button" onClick={() => void logout().catch(() => undefined)} data-testid="logout">
              {t.signOut}
            </button>
          )}
        </div>
      )}
      {setsUp && <SecondFactorDialog onClose={() => setSetsUp(false)} />}
    </div>
  );
}

function OtherConsole() {
  const isPanel = shown.value.path === '/hmi';
  return (
    <a class="button" href={isPanel ? '/data' : '/hmi'} data-testid="other-console">
      {isPanel ? t.dataConsole : t.operatorConsole}
    </a>
  );
}
