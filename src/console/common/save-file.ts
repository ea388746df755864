/** Hands a text to the person as a file. */
const KEPT_MS = 10_000;

export function saveFile(name: string, type: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

/** In the name of a file: of now. */
export function fileTime(): string {
  return new Date().toISOString().slice(0, 19).replace(/:/g, '');
}

const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
/** What a spreadsheet takes for a formula, also behind blanks, and in the wide letters that some take for the same. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20|]/;

/** A cell of CSV; one that starts like a formula is one to a spreadsheet. A number is what was recorded, with its sign. */
export function csvCell(text: string): string {
  return `"${FORMULA.test(text) && !NUMBER.test(text) ? "'" : ''}${text.replace(/"/g, '""')}"`;
}
