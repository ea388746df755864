/** Work that is done piece by piece, each in a task of its own: a slow panel takes a touch in between. */
const waiting: (() => void)[] = [];
let isCalled = false;
/** A message to oneself is a task that no timer holds up, in a page in the background either. Made when it is first needed. */
let caller: MessagePort | undefined;

function made(): MessagePort {
  const { port1: bell, port2 } = new MessageChannel();
  bell.onmessage = () => {
    isCalled = false;
    const work = waiting.shift();
    call();
    work?.();
  };
  return port2;
}

function call(): void {
  if (isCalled || waiting.length === 0) return;
  isCalled = true;
  caller ??= made();
  caller.postMessage(null);
}

/** Does it when those that came before are done. @returns takes it back, while it has not begun. */
export function inTurn(work: () => void): () => void {
  waiting.push(work);
  call();
  return () => {
    const at = waiting.indexOf(work);
    if (at >= 0) waiting.splice(at, 1);
  };
}
