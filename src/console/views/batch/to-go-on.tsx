/** What is to be put right before the batch can go on: each with the value that decides it and the way to it, ticked by the plant itself. */
import { useEffect, useState } from 'preact/hooks';
import { goingOn, goingOnFault, wayOn } from '../../data/going-on.js';
import { prompts, tagList } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { ToDo } from '../../data/to-do.js';
import type { BatchDetail } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { numberText, recordText, unitText } from '../../common/text.js';
import { GreyButton, type Missing } from '../../parts/grey-button.js';
import { CommandButton } from '../../plant/command-button.js';
import { CommandDialog } from '../../plant/command-dialog.js';

const said = words({
  en: {
    title: 'To go on',
    nothing: 'Nothing is in the way.',
    notAllowed: 'You may not ask what is in the way; call an operator.',
    open: (open: number, all: number) => `${open} of ${all} open`,
    done: 'done',
    isOpen: 'open',
    told: 'goes on with it',
    cleared: (what: string) => `${what} has cleared`,
    clears: (what: string) => `${what}: must clear; while a value is Bad it cannot`,
    now: (value: string) => `now ${value}`,
    automatic: (module: string) => `${module} to Automatic or Semi-Automatic`,
    unit: (unit: string) => `Unit ${unit}`,
    alarms: 'Alarms',
    prompt: 'Prompt',
    prompts: 'Prompts',
    ended: 'The batch has ended.',
    runs: 'The batch runs.',
    waits: 'The batch waits for its start.',
    signs: { '<': 'below', '>': 'above', '=': 'is', '<>': 'is not' } as Readonly<Record<string, string>>,
  },
  de: {
    title: 'Zum Weiterfahren',
    nothing: 'Nichts steht im Weg.',
    notAllowed: 'Sie dürfen nicht fragen, was im Weg steht; rufen Sie einen Bediener.',
    open: (open: number, all: number) => `${open} von ${all} offen`,
    done: 'erledigt',
    isOpen: 'offen',
    told: 'wird so weitergefahren',
    cleared: (what: string) => `${what} ist gegangen`,
    clears: (what: string) => `${what}: muss gehen; solange ein Wert schlecht ist, kann es das nicht`,
    now: (value: string) => `jetzt ${value}`,
    automatic: (module: string) => `${module} auf Automatik oder Halbautomatik`,
    unit: (unit: string) => `Teilanlage ${unit}`,
    alarms: 'Alarme',
    prompt: 'Anfrage',
    prompts: 'Anfragen',
    ended: 'Die Charge ist zu Ende.',
    runs: 'Die Charge läuft.',
    waits: 'Die Charge wartet auf den Start.',
    signs: { '<': 'unter', '>': 'über', '=': 'ist', '<>': 'ist nicht' } as Readonly<Record<string, string>>,
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
  return (
    <section class="to-go-on" aria-labelledby="to-go-on" data-testid="to-go-on" data-open={String(open.length)}>
      <h3 id="to-go-on">{said.title}</h3>
      <div class="to-go-on-list">
        {command === undefined ? (
          <p class="hint">{batch.endedAt !== '' ? said.ended : batch.phase === 'Pending' ? said.waits : said.runs}</p>
        ) : list === undefined ? (
          <p class="hint">{can('batch:preflight') ? t.reading : said.notAllowed}</p>
        ) : (
          list.length === 0 && <p class="hint">{said.nothing}</p>
        )}
        <ReadFault text={goingOnFault.value === undefined ? '' : faultText(goingOnFault.value)} />
        <ul>
          {list?.map((item) => (
            <Item key={item.key} item={item} />
          ))}
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
      {asked !== undefined && asked === command && <CommandDialog batch={batch} command={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

function Item({ item }: { readonly item: ToDo }) {
  const { text, hint, href, way } = wordsOf(item);
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

interface Worded {
  readonly text: string;
  readonly hint: string;
  readonly href?: string;
  readonly way?: string;
}

function wordsOf({ check: { check, message, element, liftedBy, about, decidedBy }, isDone }: ToDo): Worded {
  const unit = about?.unit ?? '';
  const toUnit = unit === '' ? {} : { href: addressOf('unit', unit), way: said.unit(unit.toUpperCase()) };
  if (check === 'alarms') {
    const value = decidedBy && valueOf(decidedBy.address, unit, decidedBy.value);
    const text = decidedBy
      ? `${decidedBy.address.toUpperCase()} ${said.signs[decidedBy.wanted] ?? decidedBy.wanted} ${valueOf(decidedBy.address, unit, decidedBy.limit)}`
      : message;
    const hint = [isDone ? said.cleared(message) : message, value === undefined ? '' : said.now(value)];
    return {
      text: decidedBy ? text : (isDone ? said.cleared : said.clears)(message),
      hint: (decidedBy ? hint : []).filter((part) => part !== '').join(', '),
      href: addressOf('alarms'),
      way: said.alarms,
    };
  }
  if (check === 'modes') return { text: said.automatic(element.toUpperCase()), hint: isDone ? '' : message, ...toUnit };
  return { text: message, hint: isDone ? '' : (liftedBy?.action ?? ''), ...toUnit };
}

function valueOf(address: string, unit: string, value: string): string {
  const tag = tagList.value.find((each) => each.address === address && each.unit === unit);
  const number = Number(value);
  const shown = value === '' || Number.isNaN(number) ? recordText(value, false) : numberText(number, undefined);
  return `${shown} ${unitText(tag?.engUnits ?? '')}`.trim();
}

function missingOf(item: ToDo): Missing {
  const { text, hint, href, way } = wordsOf(item);
  return { text: hint === '' ? text : `${text}: ${hint}`, ...(href === undefined || way === undefined ? {} : { href, way }) };
}
