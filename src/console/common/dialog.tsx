/** A modal question. The browser's own dialog keeps the focus inside and closes on Escape. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  readonly testid: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, testid, wide = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault(); // whoever opened it takes it away
    onClose();
  };
  return (
    <dialog ref={element} class={wide ? 'dialog dialog-wide' : 'dialog'} aria-labelledby={`${testid}-title`} data-testid={testid} onCancel={cancel}>
      <h2 id={`${testid}-title`}>{title}</h2>
      {children}
    </dialog>
  );
}
