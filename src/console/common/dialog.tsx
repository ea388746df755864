/** A modal question. The browser's own dialog keeps the focus inside and closes on Escape. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { signInAsked, watching } from '../data/watching.js';

export interface DialogProps {
  readonly title: string;
  readonly testid: string;
  readonly wide?: boolean;
  /** It changes nothing: a panel that watches opens it too. */
  readonly reads?: boolean;
  /** It shows what is shown this once: Escape does not take it away. */
  readonly stays?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Who works with keys goes on where the question was asked. The browser does not: the dialog is gone before it closes. */
function returnTo(opener: HTMLElement): void {
  queueMicrotask(() => {
    const isElsewhere = document.activeElement !== null && document.activeElement !== document.body;
    if (!isElsewhere && opener.isConnected) opener.focus();
  });
}

/** The second half of a double touch hits what has just come under the finger: it never sends, and never confirms unread. */
function refuseHasty(event: MouseEvent): void {
  if (event.detail > 1 && (event.target as Element).closest('[type="submit"]')) event.preventDefault();
}

/** Nor does an Enter key that is held down. Where the dialog stays Escape is no key at all: of a second one the browser asks nobody. */
function refuseKeys(event: KeyboardEvent, stays: boolean): void {
  if ((event.repeat && event.key === 'Enter') || (stays && event.key === 'Escape')) event.preventDefault();
}

export function Dialog(props: DialogProps) {
  return watching.value && props.reads !== true ? <AsksFirst onClose={props.onClose} /> : <Question {...props} />;
}

function AsksFirst({ onClose }: Pick<DialogProps, 'onClose'>) {
  useEffect(() => {
    signInAsked.value = true;
    onClose();
  }, []);
  return null;
}

function Question({ title, testid, wide = false, stays = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement) returnTo(opener);
    };
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault(); // whoever opened it takes it away
    if (!stays) onClose();
  };
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={`${testid}-title`}
      data-testid={testid}
      onCancel={cancel}
      onClose={() => stays && element.current?.showModal()} // another way of going back, of which the browser asks nobody
      onClickCapture={refuseHasty}
      onKeyDownCapture={(event) => refuseKeys(event, stays)}
    >
      <h2 id={`${testid}-title`}>{title}</h2>
      {children}
    </dialog>
  );
}
