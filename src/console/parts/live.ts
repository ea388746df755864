/** A value that changes by itself is given to a part as a signal. The smallest component that shows it reads it, so that nothing else is drawn again. */
import { type ReadonlySignal, Signal } from '@preact/signals';

export type Live<Value> = Value | ReadonlySignal<Value>;

export function read<Value>(live: Live<Value>): Value {
  return live instanceof Signal ? (live as ReadonlySignal<Value>).value : (live as Value);
}
