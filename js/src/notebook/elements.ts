/** Keys pressed in it are its own, not commands of the notebook around it. */
const OWN_KEYS = 'lmSuppressShortcuts';

/** An element with a class and a text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  text = ''
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  return node;
}

/** A button that looks like JupyterLab's. */
export function button(className: string, label: string, press: () => void): HTMLButtonElement {
  const node = element('button', `cw-cell-button ${className}`, label);
  node.type = 'button';
  node.addEventListener('click', event => {
    event.stopPropagation();
    press();
  });
  return node;
}

/** Let the keyboard work in a part of a cell as on any page. */
export function keepKeys(node: HTMLElement): void {
  node.dataset[OWN_KEYS] = 'true';
}
