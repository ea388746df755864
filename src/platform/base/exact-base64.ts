/** The decoder passes over what it does not know: a letter behind the end of a signature would be read over. @returns undefined of any text but the one that the bytes are written as. */
export function exactBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
