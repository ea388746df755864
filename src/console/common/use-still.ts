/**
 * A list whose rows move when the plant says so. A finger on its way to a row must not act on the one that has taken its place:
 * for a moment a row that has moved by itself takes no touch. What the person moved, by a filter or a key, is never held up.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

/** A person needs about so long to see that something else lies under the finger. */
const STILL_MS = 400;

export interface Still {
  readonly ref: RefObject<HTMLUListElement | null>;
  readonly onClickCapture: (event: MouseEvent) => void;
}

interface Place {
  readonly top: number;
  readonly movedAtMonoMs: number;
}

/** @param cause what the plant told; rows that move without a change of it were moved by the person. */
export function useStill(cause: unknown): Still {
  const ref = useRef<HTMLUListElement>(null);
  const before = useRef<{ readonly cause: unknown; readonly places: ReadonlyMap<Element, Place> }>({ cause, places: new Map() });
  useLayoutEffect(() => {
    const { places } = before.current;
    const isByPlant = before.current.cause !== cause && places.size > 0;
    const nowMonoMs = performance.now();
    const rows = [...(ref.current?.children ?? [])] as HTMLElement[];
    before.current = {
      cause,
      places: new Map(
        rows.map((row) => {
          const known = places.get(row);
          if (known?.top === row.offsetTop) return [row, known];
          return [row, { top: row.offsetTop, movedAtMonoMs: isByPlant ? nowMonoMs : Number.NEGATIVE_INFINITY }];
        }),
      ),
    };
  });
  const onClickCapture = (event: MouseEvent): void => {
    if (event.detail === 0) return; // a key acts on what has the focus, and that moves along
    const row = [...(ref.current?.children ?? [])].find((each) => each.contains(event.target as Node));
    const place = row && before.current.places.get(row);
    if (!place || performance.now() - place.movedAtMonoMs >= STILL_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { ref, onClickCapture };
}
