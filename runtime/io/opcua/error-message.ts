/**
 * Error messages of a server (OPC 10000-6, 7.1.2.5), looked at before the library reads them: of one whose text is longer than the message it
 * reads beyond the end, and throws where nobody can catch it.
 */
const HEAD_BYTES = 8;
const FINAL_AT = 3;
const STATUS_BYTES = 4;
const LENGTH_BYTES = 4;
const NO_TEXT = 0xffffffff;

/** What is wrong with it; undefined of every other message, and of one that is right. `chunk`: a whole one, with its head. */
export function faultOfErrorMessage(chunk: Buffer): string | undefined {
  if (chunk.toString('latin1', 0, FINAL_AT + 1) !== 'ERRF') return undefined;
  const textAt = HEAD_BYTES + STATUS_BYTES + LENGTH_BYTES;
  if (chunk.length < textAt) return `an error message of ${chunk.length} bytes`;
  const length = chunk.readUInt32LE(textAt - LENGTH_BYTES);
  if (length === NO_TEXT || textAt + length <= chunk.length) return undefined;
  return `an error message with a text of ${length} bytes, of which ${chunk.length - textAt} are there`;
}

/** Makes it a chunk of no known kind, which the library passes over. */
export function passOver(chunk: Buffer): void {
  chunk[FINAL_AT] = 0;
}
