/** What is to be put right before the batch can go on: each with the value that decides it and the way to it, ticked by the plant itself. */
import { useEffect, useState } from 'preact/hooks';
import { goingOn, goingOnFault, wayOn } from '../../data/going-on.js';
import { prompts } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { ToDo } from '../../data/to-do.js';
import type { BatchDetail } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { GreyButton } from '../../parts/grey-button.js';
import { checkTexts } from '../../plant/check-text.js';
import { CommandButton } from '../../plant/command-button.js';
import { CommandDialog } from '../../plant/command-dialog.js';
import { missingOf, toDoText } from '../../plant/to-do-words.js';

const said = words({
  en: {
    title: 'To go on',
    nothing: 'Nothing is in the way.',
    goesOn: 'Nothing keeps it from going on. It goes on with this:',
    notAllowed: 'You may not ask what is in the way; call an operator.',
    open: (open: number, all: number) => `${open} of ${all} open`,
    done: 'done',
    isOpen: 'open',
    told: 'goes on with it',
    prompt: 'Prompt',
    prompts: 'Prompts',
    ended: 'The batch has ended.',
    runs: 'The batch runs.',
    waits: 'The batch waits for its start.',
  },
  de: {
    title: 'Zum Weiterfahren',
    nothing: 'Nichts steht im Weg.',
    goesOn: 'Nichts hindert das Weiterfahren. Es geht weiter mit:',
    notAllowed: 'Sie dürfen nicht fragen, was im Weg steht; rufen Sie einen Bediener.',
    open: (open: number, all: number) => `${open} von ${all} offen`,
    done: 'erledigt',
    isOpen: 'offen',
    told: 'wird so weitergefahren',
    prompt: 'Anfrage',
    prompts: 'Anfragen',
    ended: 'Die Charge ist zu Ende.',
    runs: 'Die Charge läuft.',
    waits: 'Die Charge wartet auf den Start.',
  },
});

export function ToGoOn({ batch }: { readonly batch: BatchDetail }) {
  const command = wayOn(batch);
  /** A question is about what was touched: when another command takes its place, or none, it goes. */
  const [asked, setAsked] = useState<typeof command>();
  useEffect(() => setAsked(undefined), [batch.name, command]);
  const found = goingOn.value;
  const list = command && found?.batch === batch.name && found.command === command ? found.list : undefined;
  const waiting = prompts.value.filter((prompt) => prompt.batch === batch.name);
  const needed = list?.filter(({ isNeeded }) => isNeeded) ?? [];
  const open = needed.filter(({ isDone }) => !isDone);
  const [commanded] = checkTexts((list ?? []).filter((item) => !isOwnLine(item)).map(({ check }) => check));
  return (
    <section class="to-go-on" aria-labelledby="to-go-on" data-testid="to-go-on" data-open={String(open.length)}>
      <h3 id="to-go-on">{said.title}</h3>
      {command && list && (
        <div class="to-go-on-button">
          {open.length > 0 ? (
            <GreyButton name={word(command)} missing={open.map(missingOf)} testid="go-on-grey" />
          ) : (
            <CommandButton
              name={word(command)}
              look="button primary"
              disabled={!can('command:send') || !batch.validCommands.includes(command)}
              missing={goingOnFault.value === undefined ? [] : [{ text: faultText(goingOnFault.value) }]}
              onClick={() => setAsked(command)}
              testid="go-on"
            >
              {word(command)} …
            </CommandButton>
          )}
          {needed.length > 0 && (
            <span class="hint" role="status" data-testid="go-on-count">
              {said.open(open.length, needed.length)}
            </span>
          )}
        </div>
      )}
      <div class="to-go-on-list">
        {command === undefined ? (
          <p class="hint">{batch.endedAt !== '' ? said.ended : batch.phase === 'Pending' ? said.waits : said.runs}</p>
        ) : list === undefined ? (
          <p class="hint">{can('batch:preflight') ? t.reading : said.notAllowed}</p>
        ) : (
          open.length === 0 && <p class="hint">{needed.length < list.length || waiting.length > 0 ? said.goesOn : said.nothing}</p>
        )}
        <ReadFault text={goingOnFault.value === undefined ? '' : faultText(goingOnFault.value)} />
        <ul>
          {list?.filter(isOwnLine).map((item) => (
            <Item key={item.key} item={item} />
          ))}
          {commanded !== undefined && (
            <li class="to-do" data-done="false" data-testid="to-do-commanded">
              <Tick state="told" />
              <span>{commanded}</span>
            </li>
          )}
          {waiting.map((prompt) => (
            <li key={prompt.id} class="to-do" data-done="false" data-testid="to-do-prompt">
              <Tick state="told" />
              <span>
                {said.prompt}: {prompt.text} <span class="hint">{prompt.unit.toUpperCase()}</span>
              </span>
              <a class="button" href={addressOf('prompts')}>
                {said.prompts}
              </a>
            </li>
          ))}
        </ul>
      </div>
      {asked !== undefined && asked === command && <CommandDialog batch={batch} command={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

/** Devices that stand commanded are told in one line. */
function isOwnLine({ check }: ToDo): boolean {
  return check.told?.code !== 'commanded';
}

function Item({ item }: { readonly item: ToDo }) {
  const { text, hint, href, way } = toDoText(item);
  const { isDone, isNeeded, check } = item;
  return (
    <li class="to-do" data-done={String(isDone)} data-testid={`to-do-${check.check}-${check.element}`}>
      <Tick state={isDone ? 'done' : isNeeded ? 'open' : 'told'} />
      <span>
        {text} <span class="hint">{hint}</span>
      </span>
      {href !== undefined && !isDone && (
        <a class="button" href={href}>
          {way}
        </a>
      )}
    </li>
  );
}

/** Nobody ticks it: the plant does. */
function Tick({ state }: { readonly state: 'done' | 'open' | 'told' }) {
  return (
    <span class={`to-do-tick to-do-${state}`}>
      <span aria-hidden="true">{state === 'done' ? '✓' : state === 'told' ? '!' : ''}</span>
      <span class="visually-hidden">{state === 'done' ? said.done : state === 'open' ? said.isOpen : said.told}: </span>
    </span>
  );
}
