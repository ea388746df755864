/**
 * Pieces of a view that are drawn one after the other, each in a task of its own: a slow panel shows the first of them soon, and takes a touch in
 * between. Whatever is drawn already stays; only the first drawing of each piece waits for its turn.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

const waiting: (() => void)[] = [];
let isCalled = false;
/** A message to oneself is a task that no timer holds up, in a page in the background either. */
const { port1: bell, port2: caller } = new MessageChannel();

bell.onmessage = () => {
  isCalled = false;
  waiting.shift()?.();
};

/** The next one has its turn when this one is drawn: a renderer would draw together what is due. */
function next(): void {
  if (isCalled || waiting.length === 0) return;
  isCalled = true;
  caller.postMessage(null);
}

interface InTurnProps {
  readonly children: ComponentChildren;
}

export function InTurn({ children }: InTurnProps) {
  const [isDue, setDue] = useState(false);
  useLayoutEffect(() => {
    if (isDue) return;
    const turn = (): void => setDue(true);
    waiting.push(turn);
    next();
    return () => {
      // drawn, or gone before its turn
      const at = waiting.indexOf(turn);
      if (at >= 0) waiting.splice(at, 1);
      next();
    };
  }, [isDue]);
  return isDue ? <>{children}</> : null;
}
