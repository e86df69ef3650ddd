import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { button, element, keepKeys } from './elements';
import { type DiffLine, diffLines, type Gap, withContext } from './line_diff';

export interface DiffViewOptions {
  readonly before: string;
  readonly after: string;
  readonly trans: TranslationBundle;
  readonly answer: (isAccepted: boolean) => void;
}

/** A proposed text of a cell as a unified diff, with buttons to accept and reject it. */
export class DiffView extends Widget {
  constructor(options: DiffViewOptions) {
    super();
    this.addClass('cw-cell-diff');
    this._options = options;
    keepKeys(this.node);
    this._draw();
  }

  private _draw(): void {
    const { before, after, trans } = this._options;
    const all = diffLines(before, after);
    const heading = this._heading(all);
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-labelledby', heading.id);
    const head = element('div', 'cw-cell-diff-head');
    head.append(heading, ...this._buttons());
    const body = element('div', 'cw-cell-diff-body');
    body.append(...withContext(all).map(line => drawLine(line, trans)));
    this.node.replaceChildren(head, body);
  }

  private _heading(all: readonly DiffLine[]): HTMLElement {
    const { trans } = this._options;
    const added = all.filter(line => line.kind === 'added').length;
    const removed = all.filter(line => line.kind === 'removed').length;
    const heading = element('span', 'cw-cell-diff-heading', trans.__('Proposed edit'));
    heading.id = `cw-cell-diff-${UUID.uuid4()}`;
    const counts = element('span', 'cw-cell-diff-counts', ` +${String(added)} −${String(removed)}`);
    counts.title = trans.__('%1 lines added, %2 removed', added, removed);
    heading.append(counts);
    return heading;
  }

  private _buttons(): HTMLElement[] {
    const { trans, answer } = this._options;
    return [
      button('cw-mod-accept', trans.__('Accept'), () => {
        answer(true);
      }),
      button('cw-mod-reject', trans.__('Reject'), () => {
        answer(false);
      })
    ];
  }

  private readonly _options: DiffViewOptions;
}

function drawLine(line: DiffLine | Gap, trans: TranslationBundle): HTMLElement {
  if (line.kind === 'gap') {
    const words = trans._n('%1 unchanged line', '%1 unchanged lines', line.count);
    return element('div', 'cw-cell-diff-gap', words);
  }
  // The elements say to a screen reader what the sign and the colour say to the eye.
  const name = ({ same: 'div', added: 'ins', removed: 'del' } as const)[line.kind];
  const sign = element(
    'span',
    'cw-cell-diff-sign',
    { same: ' ', added: '+', removed: '-' }[line.kind]
  );
  sign.setAttribute('aria-hidden', 'true');
  const row = element(name, 'cw-cell-diff-line');
  row.append(sign, element('code', 'cw-cell-diff-text', line.text));
  return row;
}
