/**
 * Every part of the consoles in every state, for developers and tests: `#bar` shows that of bars alone, nothing all of them. It is built beside the
 * consoles, and no plant serves it.
 */
import '../common/theme.css';
import '../frame/layout.css';
import '../frame/pages.css';
import '../parts/qr-code.css';
import './sheet.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { choose, look, type Look, LOOKS } from '../common/look.js';
import { Segments } from '../parts/segments.js';
import { PARTS } from './parts.js';

const DENSITIES = ['panel', 'desk'] as const;
const density = signal<(typeof DENSITIES)[number]>('panel');
const chosen = signal(location.hash.slice(1));
window.addEventListener('hashchange', () => {
  chosen.value = location.hash.slice(1);
});

function setDensity(next: (typeof DENSITIES)[number]): void {
  density.value = next;
  document.documentElement.dataset.density = next;
}

const named = <Word extends string>(words: readonly Word[]): readonly (readonly [Word, string])[] => words.map((word) => [word, word] as const);

function Sheet() {
  const shown = PARTS.filter(({ name }) => chosen.value === '' || chosen.value === name);
  return (
    <main class="sheet" data-testid="sheet">
      <header class="sheet-head">
        <h1>Lineside parts</h1>
        <Segments<Look> label="Look" value={look.value} options={named(LOOKS)} onChoose={choose} testid="look" />
        <Segments label="Density" value={density.value} options={named(DENSITIES)} onChoose={setDensity} testid="density" />
      </header>
      <nav class="sheet-index" aria-label="Parts">
        <a class="place" href="#" aria-current={chosen.value === '' ? 'page' : undefined}>
          all
        </a>
        {PARTS.map(({ name }) => (
          <a key={name} class="place" href={`#${name}`} aria-current={chosen.value === name ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {shown.map(({ name, words, Shown }) => (
        <section key={`${name} ${density.value}`} class="panel sheet-part" data-part={name} aria-labelledby={`part-${name}`}>
          <h2 id={`part-${name}`}>
            {name} <span class="hint">{words}</span>
          </h2>
          <Shown />
        </section>
      ))}
    </main>
  );
}

const place = document.getElementById('app');
if (place) render(<Sheet />, place);
