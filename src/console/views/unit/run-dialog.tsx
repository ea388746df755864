/**
 * A phase, an operation or a unit procedure is run by hand: what and with which values, what stands against it, then once more in words before it is
 * sent. The gateway judges it again. Below: what was run on the unit before.
 */
import { useEffect, useState } from 'preact/hooks';
import { actionOf, execute, readRunnable, RUN_KINDS, type RunKind } from '../../data/by-hand.js';
import { takenOver } from '../../data/departures.js';
import { readFault, stale, units } from '../../data/plant.js';
import { batchNumber } from '../../plant/batch-number.js';
import { can, config } from '../../data/session.js';
import { needsPassword, signed } from '../../data/signatures.js';
import { isNumeric, type RunnableTemplate } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault, ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t, word, words } from '../../common/strings.js';
import { recordText, typedNumber, unitText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { Segments } from '../../parts/segments.js';
import { linkWords } from '../../plant/command-button.js';
import { EarlierRuns } from './earlier-runs.js';

export const runWords = words({
  en: {
    verb: 'Run a phase',
    title: (unit: string) => `Run by hand on ${unit}`,
    what: 'What',
    kinds: { Phase: 'Phase', Operation: 'Operation', UnitProcedure: 'Unit procedure' } as Readonly<Record<RunKind, string>>,
    none: 'None fits this unit.',
    runs: (template: string, unit: string) => `${template} will run on ${unit} at once, without a batch, with:`,
    noValues: 'It takes no values.',
    noBatch: 'It is recorded as a run by hand, and belongs to no batch record.',
    against: 'Stands against it:',
    along: 'It would run with:',
    works: (unit: string, holder: string) => `${unit} works for ${holder}`,
    notIdle: (unit: string, state: string) => `${unit} is ${state}; it has to be Idle: reset what it ran last`,
    noRuntime: (unit: string) => `Control of ${unit} is down`,
    nothing: 'Nothing stands against it.',
    send: (template: string) => `Run ${template}`,
    missing: (name: string) => `${name} needs a value`,
    outside: (name: string, min: string, max: string) => `${name} has to be ${min} to ${max}`,
    notNumber: (name: string) => `${name} has to be a number`,
    notAllowed: 'You may not run anything by hand; call a lead operator.',
  },
  de: {
    verb: 'Phase fahren',
    title: (unit: string) => `Von Hand fahren auf ${unit}`,
    what: 'Was',
    kinds: { Phase: 'Phase', Operation: 'Operation', UnitProcedure: 'Teilprozedur' },
    none: 'Zu dieser Teilanlage passt keine.',
    runs: (template: string, unit: string) => `${template} läuft sofort auf ${unit}, ohne Charge, mit:`,
    noValues: 'Sie nimmt keine Werte.',
    noBatch: 'Es wird als Lauf von Hand aufgezeichnet und gehört zu keinem Chargenprotokoll.',
    against: 'Dagegen steht:',
    along: 'Sie liefe mit:',
    works: (unit: string, holder: string) => `${unit} arbeitet für ${holder}`,
    notIdle: (unit: string, state: string) => `${unit} ist ${state}; sie muss im Grundzustand sein: zurücksetzen, was zuletzt darauf lief`,
    noRuntime: (unit: string) => `Die Steuerung von ${unit} ist ausgefallen`,
    nothing: 'Nichts steht dagegen.',
    send: (template: string) => `${template} fahren`,
    missing: (name: string) => `${name} braucht einen Wert`,
    outside: (name: string, min: string, max: string) => `${name} muss ${min} bis ${max} sein`,
    notNumber: (name: string) => `${name} muss eine Zahl sein`,
    notAllowed: 'Sie dürfen nichts von Hand fahren; rufen Sie einen leitenden Bediener.',
  },
});

export function mayRun(): readonly RunKind[] {
  return RUN_KINDS.filter((kind) => can(actionOf(kind)));
}

type Parameter = RunnableTemplate['spec']['parameters'][number];

export function RunDialog({ unit, onClose }: { readonly unit: string; readonly onClose: () => void }) {
  const kinds = mayRun();
  const [kind, setKind] = useState<RunKind>(kinds[0] ?? 'Phase');
  const [found, setFound] = useState<readonly RunnableTemplate[]>([]);
  const [readWhy, setReadWhy] = useState('');
  const [name, setName] = useState('');
  const [entered, setEntered] = useState<Readonly<Record<string, string>>>({});
  const [reason, setReason] = useState('');
  const [password, setPassword] = useState('');
  const [isAsked, setAsked] = useState(false);
  const sending = useSend();
  useEffect(() => {
    let isCurrent = true;
    setFound([]);
    setName('');
    readRunnable(kind, unit).then(
      (templates) => {
        if (!isCurrent) return;
        setFound(templates);
        setReadWhy('');
      },
      (fault: unknown) => isCurrent && setReadWhy(faultText(fault)),
    );
    return () => {
      isCurrent = false;
    };
  }, [kind, unit]);
  const template = found.find((each) => each.name === name);
  const stops = stopsOf(unit);
  const lengthMin = kind === 'UnitProcedure' ? (config.value?.reasonMinLength ?? 1) : 0;
  const values = (template?.spec.parameters ?? []).flatMap((parameter) => {
    const text = entered[parameter.name] ?? '';
    return text === '' ? [] : [{ name: parameter.name, value: sentValue(parameter, text) }];
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!template) return sending.refuse(`${runWords.what}: ${t.choose}`);
    const wrong = faultOf(template.spec.parameters, entered);
    const short = reasonLength(reason) < lengthMin ? `${t.reason}: ${t.reasonNeeded(lengthMin)}` : '';
    sending.refuse(wrong || short);
    if (wrong !== '' || short !== '') return;
    if (!isAsked) return setAsked(true);
    void sending.run(async () => {
      const order = { kind, unit, template: template.name, values, reason: reason.trim() };
      await (kind === 'UnitProcedure' ? signed(password, {}, () => execute(order)) : execute(order));
      onClose();
    });
  };
  const choose = (next: string): void => {
    setName(next);
    const defaults = found.find((each) => each.name === next)?.spec.parameters ?? [];
    setEntered(Object.fromEntries(defaults.map((parameter) => [parameter.name, recordText(parameter.defaultValue, isNumeric(parameter.type))])));
  };
  return (
    <Dialog title={runWords.title(unit.toUpperCase())} testid="run-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="run-error" />
        <ReadFault text={readWhy} />
        {isAsked && template ? (
          <div class="stack" data-testid="run-confirm">
            <p>
              <strong>{runWords.runs(template.name, unit.toUpperCase())}</strong>
            </p>
            {values.length === 0 && <p>{runWords.noValues}</p>}
            <ul>
              {values.map(({ name: parameter, value }) => (
                <li class="number" key={parameter}>
                  {parameter}: <strong>{valueText(template.spec.parameters, parameter, value)}</strong>
                </li>
              ))}
            </ul>
            <Against unit={unit} stops={stops} />
            <p class="hint">{runWords.noBatch}</p>
            {kind === 'UnitProcedure' && needsPassword() && (
              <Field id="run-password" label={t.password} type="password" autoComplete="current-password" value={password} onInput={setPassword} />
            )}
          </div>
        ) : (
          <div class="stack">
            {kinds.length > 1 && (
              <Segments label={runWords.what} value={kind} options={kinds.map((each) => [each, runWords.kinds[each]] as const)} onChoose={setKind} testid="run-kind" />
            )}
            <select class="select" aria-label={runWords.what} value={name} onChange={(event) => choose(event.currentTarget.value)} data-testid="run-template">
              <option value="">{found.length === 0 ? runWords.none : t.choose}</option>
              {found.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.name}
                </option>
              ))}
            </select>
            {template && <p class="hint">{template.spec.description}</p>}
            {template?.spec.parameters.map((parameter) => (
              <ParameterField
                key={parameter.name}
                parameter={parameter}
                value={entered[parameter.name] ?? ''}
                onInput={(text) => setEntered({ ...entered, [parameter.name]: text })}
              />
            ))}
            {lengthMin > 0 && (
              <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonReasons} />
            )}
            <Against unit={unit} stops={stops} />
          </div>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={isAsked ? () => setAsked(false) : onClose} data-testid="run-back">
            {isAsked ? t.back : t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value || stops.length > 0} data-testid="run-send">
            {sending.busy ? t.sending : isAsked && template ? runWords.send(template.name) : t.next}
          </button>
        </div>
      </form>
      {!isAsked && <EarlierRuns unit={unit} kinds={runWords.kinds} />}
    </Dialog>
  );
}

/** What the gateway would refuse it for now. Reads signals. */
function stopsOf(name: string): string[] {
  const unit = units.value.find((each) => each.name === name);
  const shown = name.toUpperCase();
  if (!unit) return [];
  const holder = batchNumber(unit.allocatedTo);
  return [
    ...(stale.value || readFault.value !== undefined ? [linkWords.noLink] : []),
    ...(holder !== '' ? [runWords.works(shown, holder)] : unit.state !== '' && unit.state !== 'Idle' ? [runWords.notIdle(shown, word(unit.state))] : []),
    ...(unit.runtimeReady ? [] : [runWords.noRuntime(shown)]),
  ];
}

function Against({ unit, stops }: { readonly unit: string; readonly stops: readonly string[] }) {
  const along = takenOver([unit], new Set());
  return (
    <div data-testid="run-against">
      {stops.length === 0 && along.length === 0 && <p class="hint">{runWords.nothing}</p>}
      {[[runWords.against, stops] as const, [runWords.along, along] as const].map(
        ([title, list]) =>
          list.length > 0 && (
            <div class="warning" key={title}>
              <strong>{title}</strong>
              <ul>
                {list.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </div>
          ),
      )}
    </div>
  );
}

/** A number as the gateway reads it, whatever sign its reader has for the fraction; a text letter by letter. */
function sentValue(parameter: Parameter, text: string): string {
  return isNumeric(parameter.type) ? (typedNumber(text) ?? text) : text;
}

function valueText(parameters: readonly Parameter[], name: string, value: string): string {
  const parameter = parameters.find((each) => each.name === name);
  return parameter ? `${recordText(value, isNumeric(parameter.type))} ${unitText(parameter.unit)}`.trim() : value;
}

/** The first thing that is wrong with the values; the gateway judges them again. */
function faultOf(parameters: readonly Parameter[], entered: Readonly<Record<string, string>>): string {
  for (const parameter of parameters) {
    const { name, required, min, max } = parameter;
    const text = (entered[name] ?? '').trim();
    if (text === '' && required) return runWords.missing(name);
    if (text === '' || !isNumeric(parameter.type)) continue;
    const typed = typedNumber(text);
    if (typed === undefined) return runWords.notNumber(name);
    if ((min !== '' && Number(typed) < Number(min)) || (max !== '' && Number(typed) > Number(max))) return runWords.outside(name, recordText(min, true), recordText(max, true));
  }
  return '';
}

function ParameterField({ parameter, value, onInput }: { readonly parameter: Parameter; readonly value: string; readonly onInput: (text: string) => void }) {
  const { name, unit, description, min, max, choices, type } = parameter;
  const options = type === 'BOOL' ? ['TRUE', 'FALSE'] : choices;
  const id = `run-value-${name}`;
  return (
    <div class="field">
      <label for={id}>
        {name} {unit === '' ? '' : `(${unitText(unit)})`}
      </label>
      {options.length > 0 ? (
        <select class="select" id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)} data-testid={id}>
          <option value="">{t.choose}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input
          class={isNumeric(parameter.type) ? 'number' : ''}
          id={id}
          autocomplete="off"
          inputMode={isNumeric(parameter.type) ? 'decimal' : 'text'}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          data-testid={id}
        />
      )}
      <p class="hint">
        {description} {min !== '' || max !== '' ? t.between(recordText(min, true), recordText(max, true), unitText(unit)) : ''}
      </p>
    </div>
  );
}
