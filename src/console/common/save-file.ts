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

/** A cell of CSV; one that starts like a formula is one to a spreadsheet. */
export function csvCell(text: string): string {
  return `"${text.replace(/"/g, '""').replace(/^([=+\-@])/, "'$1")}"`;
}
