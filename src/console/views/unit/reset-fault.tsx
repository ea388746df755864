/**
 * The way back of a device in latched fault (ADR 0030), beside the button that goes it: what the reset does and does not do, what comes
 * next, and in own words why it was refused. One touch in every mode; a second one where the device would move at once.
 */
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../data/api.js';
import type { ModuleTags } from '../../data/module-tags.js';
import { resetFault } from '../../data/modules.js';
import { batches, tagValue, units } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { addressOf } from '../../data/view.js';
import { Fault } from '../../common/fault.js';
import { t, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { CommandButton } from '../../plant/command-button.js';

const text = words({
  en: {
    why: (device: string) => `${device} did not follow its command, or has tripped. It stays at its fail position until it is reset.`,
    first: 'Mend the cause first: as long as it stands, the reset is refused, or the fault comes back with the next command.',
    only: 'The reset works in every mode and on this device alone. Interlocks, alarms and the batch stay as they are.',
    moves: (device: string) =>
      `Its command still stands: with the reset ${device} moves at once, and the phase that waits for it goes on. Reset it only when nobody is at the equipment.`,
    notAtRest: (device: string) =>
      `Nothing was reset: ${device} is not at its fail position or at a standstill, or its trip still stands. See to it at the device, wait until it is at rest, then reset it again.`,
    send: 'Reset the fault',
    sendMoving: 'Reset, it may move',
    done: (device: string) => `The fault of ${device} is reset; whether the device follows shows with its next command.`,
    held: (batch: string) => `Batch ${batch} is still held. It goes on with Restart.`,
    nobody: 'You may not reset it; call an operator.',
  },
  de: {
    why: (device: string) => `${device} ist seinem Befehl nicht gefolgt oder hat ausgelöst. Es bleibt in seiner Sicherheitsstellung, bis die Störung quittiert ist.`,
    first: 'Zuerst die Ursache beheben: Solange sie ansteht, wird das Quittieren abgelehnt, oder die Störung kommt mit dem nächsten Befehl wieder.',
    only: 'Quittieren geht in jeder Betriebsart und betrifft dieses Gerät allein. Verriegelungen, Alarme und die Charge bleiben, wie sie sind.',
    moves: (device: string) =>
      `Sein Befehl steht noch an: Mit dem Quittieren bewegt sich ${device} sofort, und die Phase, die darauf wartet, läuft weiter. Nur quittieren, wenn niemand an der Anlage ist.`,
    notAtRest: (device: string) =>
      `Nichts wurde quittiert: ${device} ist nicht in seiner Sicherheitsstellung oder im Stillstand, oder seine Auslösung steht noch an. Am Gerät nachsehen, warten, bis es in Ruhe ist, dann noch einmal quittieren.`,
    send: 'Störung quittieren',
    sendMoving: 'Quittieren, es darf sich bewegen',
    done: (device: string) => `Die Störung von ${device} ist quittiert; ob das Gerät folgt, zeigt sein nächster Befehl.`,
    held: (batch: string) => `Charge ${batch} ist weiter angehalten. Sie läuft mit Wiederanfahren weiter.`,
    nobody: 'Sie dürfen sie nicht quittieren; rufen Sie einen Bediener.',
  },
});

export function ResetFault({ tags: { module, faults } }: { readonly tags: ModuleTags }) {
  const [moving, setMoving] = useState(false);
  const [isDone, setDone] = useState(false);
  const sending = useSend();
  const isFaulted = faults.some((tag) => tagValue(module.unit, tag.address).value.value === true);
  useEffect(() => {
    setMoving(false);
    if (isFaulted) setDone(false);
  }, [isFaulted]);
  const device = module.name.toUpperCase();
  if (!isFaulted) return isDone ? <Done unit={module.unit} device={device} /> : null;
  const reset = (): void =>
    void sending.run(async () => {
      try {
        await resetFault(module.name, moving);
        setDone(true);
      } catch (refused) {
        if (!(refused instanceof ApiError) || refused.code !== 'would_move') throw refused;
        setMoving(true);
      }
    });
  return (
    <section class="stack reset-fault" data-testid="reset-fault">
      <p>
        <strong>{text.why(device)}</strong> {text.first}
      </p>
      <Fault text={sending.code === 'not_at_rest' ? text.notAtRest(device) : sending.fault} code={sending.code} testid="reset-fault-error" />
      {moving && (
        <p class="warning" data-testid="reset-fault-moves">
          {text.moves(device)}
        </p>
      )}
      {can('controlmodule:reset-fault') ? (
        <CommandButton
          name={sending.busy ? t.sending : moving ? text.sendMoving : text.send}
          look="button primary"
          disabled={sending.busy}
          onClick={reset}
          testid="reset-fault-send"
        />
      ) : (
        <p>{text.nobody}</p>
      )}
      <p class="hint">{text.only}</p>
    </section>
  );
}

/** What comes next; a batch that the fault has held does not go on by itself. */
function Done({ unit, device }: { readonly unit: string; readonly device: string }) {
  const name = units.value.find((each) => each.name === unit)?.allocatedTo ?? '';
  const batch = batches.value.find((each) => each.name === name);
  return (
    <div class="note stack" role="status" data-testid="reset-fault-done">
      <p>
        {text.done(device)} {batch?.phase === 'Held' && text.held(batch.batchID)}
      </p>
      {batch?.phase === 'Held' && (
        <a class="button" href={addressOf('batch', batch.name)}>
          {t.batch} {batch.batchID}
        </a>
      )}
    </div>
  );
}
