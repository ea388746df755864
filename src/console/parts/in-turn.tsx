/**
 * Pieces of a view that are drawn one after the other, each in a task of its own: a slow panel shows the first of them soon. Whatever is drawn
 * already stays; only the first drawing of each piece waits for its turn.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { inTurn } from '../common/turns.js';

interface InTurnProps {
  readonly children: ComponentChildren;
}

export function InTurn({ children }: InTurnProps) {
  const [isDue, setDue] = useState(false);
  useLayoutEffect(() => {
    if (!isDue) return inTurn(() => setDue(true));
    void document.documentElement.offsetHeight; // laid out in this task: the pieces of a view together take long
    return undefined;
  }, [isDue]);
  return isDue ? <>{children}</> : null;
}
