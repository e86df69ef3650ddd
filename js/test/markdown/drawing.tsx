/** Draw a text as the panel does, and list whatever in it is not allowed. */
import { nullTranslator } from '@jupyterlab/translation';
import { cleanup, render } from '@testing-library/react';
import * as React from 'react';

import DocumentView from '../../src/markdown/document_view';
import type { Highlight } from '../../src/markdown/highlighting';
import { safeLink } from '../../src/markdown/links';
import { MATH_ATTRIBUTES, MATH_ELEMENTS } from '../../src/markdown/typesetting';

export const trans = nullTranslator.load('cellwright');

export const PNG = 'data:image/png;base64,iVBORw0KGgo=';

export interface Options {
  readonly isStreaming?: boolean;
  readonly highlight?: Highlight;
}

/** The element that holds the drawn text. */
export function draw(text: string, { isStreaming = false, ...rest }: Options = {}): HTMLElement {
  cleanup();
  const props = { text, isStreaming, trans, ...rest };
  const root = render(<DocumentView {...props} />).container.firstElementChild;
  if (!(root instanceof HTMLElement)) {
    throw new TypeError(`nothing was drawn for ${JSON.stringify(text)}`);
  }
  return root;
}

/** What is drawn, as HTML without our own wrapping element. */
export function html(text: string, options: Options = {}): string {
  return draw(text, options).innerHTML;
}

const ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'target', 'rel'],
  blockquote: [],
  br: [],
  button: ['type'],
  code: [],
  del: [],
  div: ['tabindex', 'role', 'aria-label'],
  em: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  hr: [],
  img: ['src', 'alt'],
  input: ['type', 'disabled', 'checked', 'readonly', 'aria-label'],
  li: [],
  ol: ['start'],
  p: [],
  pre: ['tabindex', 'role', 'aria-label'],
  span: [],
  strong: [],
  table: [],
  tbody: [],
  td: [],
  th: ['scope'],
  thead: [],
  tr: [],
  ul: []
};
const VALUES: Readonly<Record<string, RegExp>> = {
  'aria-label': /^(?:Code|Table|done|to do)$/,
  checked: /^$/,
  class: /^cw-md(?:-[a-z]+)*(?: cw-md-[a-z]+)*$/,
  disabled: /^$/,
  readonly: /^$/,
  rel: /^noopener noreferrer$/,
  role: /^group$/,
  scope: /^col$/,
  src: /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
  start: /^\d{1,9}$/,
  tabindex: /^0$/,
  target: /^_blank$/,
  type: /^(?:button|checkbox)$/
};

/** Every element and attribute below a node that is not on the list. */
export function offTheList(root: Element): string[] {
  return [root, ...Array.from(root.querySelectorAll('*'))].flatMap(strange);
}

function strange(element: Element): string[] {
  const name = element.localName;
  const isMath = element.namespaceURI === 'http://www.w3.org/1998/Math/MathML';
  const allowed = ELEMENTS[name];
  if (isMath ? !MATH_ELEMENTS.has(name) : allowed === undefined) {
    return [`<${name}>`];
  }
  return Array.from(element.attributes)
    .filter(({ name: attribute, value }) =>
      isMath
        ? MATH_ATTRIBUTES[attribute]?.test(value) !== true
        : !isAllowed(attribute, value, allowed ?? [])
    )
    .map(({ name: attribute, value }) => `<${name} ${attribute}=${JSON.stringify(value)}>`);
}

function isAllowed(attribute: string, value: string, allowed: readonly string[]): boolean {
  if (attribute !== 'class' && !allowed.includes(attribute)) {
    return false;
  }
  if (attribute === 'href') {
    // what is drawn must be what the check lets through, letter for letter
    return safeLink(value)?.href === value && /^(?:https?|mailto):[\x21-\x7e]+$/.test(value);
  }
  return attribute === 'alt' || VALUES[attribute]?.test(value) === true;
}
