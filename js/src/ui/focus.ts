/** The button that undoes the newest run of the chat that can be undone; null: none can. */
function newestUndo(root: ParentNode | null): HTMLElement | null {
  return [...(root?.querySelectorAll<HTMLElement>('.cw-undo-run') ?? [])].at(-1) ?? null;
}

/** Go to the button that undoes the newest run. */
export function focusUndo(root: ParentNode | null): void {
  newestUndo(root)?.focus();
}

/** Press the button of the newest run where it has the focus; false: it has not. */
export function pressUndo(): boolean {
  const button = newestUndo(document);
  const isThere = button !== null && button === document.activeElement;
  if (isThere) {
    button.click();
  }
  return isThere;
}

/** Bring what waits for the person's approval into view and give it the focus. */
export function focusApproval(root: ParentNode | null): void {
  root?.querySelector<HTMLElement>('.cw-approval button')?.focus();
}

/**
 * Give an approval that has the focus the key it listens to; false: none has the focus, or the
 * person writes in it, where these keys mean something else.
 *
 * Commands can be called by any page content that JupyterLab links to them, so a command answers
 * nothing that the person is not already at.
 */
export function pressOnApproval(key: 'Enter' | 'Escape'): boolean {
  const focused = document.activeElement;
  if (!focused?.closest('.cw-approval') || focused instanceof HTMLTextAreaElement) {
    return false;
  }
  const withAccel = key === 'Enter';
  focused.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: withAccel, bubbles: true }));
  return true;
}
