import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { button, element, keepKeys } from './elements';
import { type DiffLine, diffLines, type Gap, withContext } from './line_diff';

/** As long as an approval in the panel waits before it takes an answer. */
const ARMED_AFTER_MILLISECONDS = 400;

export interface DiffViewOptions {
  readonly before: string;
  readonly after: string;
  /** Accepting it runs the cell as well. */
  readonly runs: boolean;
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
    const { before, after, runs, trans } = this._options;
    const all = diffLines(before, after);
    const heading = this._heading(all);
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-labelledby', heading.id);
    const head = element('div', 'cw-cell-diff-head');
    head.append(heading, ...this._buttons());
    const body = element('div', 'cw-cell-diff-body');
    // What runs is shown whole.
    body.append(...(runs ? all : withContext(all)).map(line => drawLine(line, trans)));
    this.node.replaceChildren(head, body);
  }

  private _heading(all: readonly DiffLine[]): HTMLElement {
    const { runs, trans } = this._options;
    const added = all.filter(line => line.kind === 'added').length;
    const removed = all.filter(line => line.kind === 'removed').length;
    const words = runs ? trans.__('Proposed edit, which then runs') : trans.__('Proposed edit');
    const heading = element('span', 'cw-cell-diff-heading', words);
    heading.id = `cw-cell-diff-${UUID.uuid4()}`;
    const counts = element('span', 'cw-cell-diff-counts', ` +${String(added)} −${String(removed)}`);
    counts.title = trans.__('%1 lines added, %2 removed', added, removed);
    heading.append(counts);
    return heading;
  }

  private _buttons(): HTMLElement[] {
    const { runs, trans } = this._options;
    const accept = runs ? trans.__('Accept and run') : trans.__('Accept');
    const buttons = [
      button('cw-mod-accept', accept, () => {
        this._answer(true);
      }),
      button('cw-mod-reject', trans.__('Reject'), () => {
        this._answer(false);
      })
    ];
    this._arm(buttons);
    return buttons;
  }

  /** What appears under a hand that types or clicks must not take that for an answer. */
  private _arm(buttons: readonly HTMLElement[]): void {
    for (const made of buttons) {
      made.ariaDisabled = 'true';
    }
    setTimeout(() => {
      this._isArmed = true;
      for (const made of buttons) {
        made.ariaDisabled = 'false';
      }
    }, ARMED_AFTER_MILLISECONDS);
  }

  private _answer(isAccepted: boolean): void {
    if (this._isArmed) {
      this._options.answer(isAccepted);
    }
  }

  private _isArmed = false;

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
