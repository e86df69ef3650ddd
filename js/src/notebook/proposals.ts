import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ProposalAnswer } from '../chat/notebooks';
import { spelledOut } from '../ui/spelled_out';
import { button, CellWalk, element, keepKeys, placeInCell } from './cell_walk';
import { type DiffLine, diffLines, type Gap, withContext } from './line_diff';

/** As long as an approval in the panel waits before it takes an answer. */
const ARMED_AFTER_MILLISECONDS = 400;

interface DiffViewOptions {
  readonly before: string;
  readonly after: string;
  /** Accepting it runs the cell as well. */
  readonly runs: boolean;
  readonly trans: TranslationBundle;
  readonly answer: (isAccepted: boolean) => void;
}

/** A proposed text of a cell as a unified diff, with buttons to accept and reject it. */
class DiffView extends Widget {
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
  row.append(sign, element('code', 'cw-cell-diff-text', spelledOut(line.text)));
  return row;
}

/** The edits that wait for the person, each shown on its cell. */
export class Proposals implements IDisposable {
  constructor(notebook: Notebook, trans: TranslationBundle) {
    this._notebook = notebook;
    this._trans = trans;
    this._walk = new CellWalk(notebook, cell => {
      this._show(cell);
    });
  }

  get answered(): ISignal<this, ProposalAnswer> {
    return this._answered;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Show an edit on its cell; null takes it away. */
  propose(cellId: string, source: string | null, runs = false): void {
    this._views.get(cellId)?.dispose();
    this._views.delete(cellId);
    if (source === null) {
      this._sources.delete(cellId);
      return;
    }
    this._sources.set(cellId, source);
    this._running[runs ? 'add' : 'delete'](cellId);
    const cell = this._notebook.widgets.find(widget => widget.model.id === cellId);
    if (cell !== undefined) {
      this._show(cell);
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._walk.dispose();
      for (const view of this._views.values()) {
        view.dispose();
      }
      Signal.clearData(this);
    }
  }

  private _show(cell: Cell): void {
    const cellId = cell.model.id;
    const after = this._sources.get(cellId);
    if (after === undefined) {
      return;
    }
    const before = cell.model.sharedModel.getSource();
    const answer = (isAccepted: boolean): void => {
      this._answer(cellId, isAccepted);
    };
    const runs = this._running.has(cellId);
    const view = new DiffView({ before, after, runs, trans: this._trans, answer });
    this._views.get(cellId)?.dispose();
    this._views.set(cellId, view);
    placeInCell(cell, view, 'input');
  }

  private _answer(cellId: string, isAccepted: boolean): void {
    this.propose(cellId, null);
    this._answered.emit({ cellId, isAccepted });
  }

  private _isDisposed = false;
  private readonly _sources = new Map<string, string>();
  /** Cells that accepting runs as well. */
  private readonly _running = new Set<string>();
  private readonly _views = new Map<string, DiffView>();
  private readonly _walk: CellWalk;
  private readonly _notebook: Notebook;
  private readonly _trans: TranslationBundle;
  private readonly _answered = new Signal<this, ProposalAnswer>(this);
}
