/** What this browser keeps of a panel: looks, language, the site shown last. It may keep nothing (a private window, a full or forbidden store): then it is as if nobody had chosen. */

export function keptHere(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keepHere(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    return; // it holds until the page is left
  }
}
