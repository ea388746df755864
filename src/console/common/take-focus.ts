/** `autofocus` counts once in a page: the field of a later step is given the focus as it comes. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
