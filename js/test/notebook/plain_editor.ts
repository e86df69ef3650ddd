import type { CodeEditor } from '@jupyterlab/codeeditor';
import { UUID } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

const START = { line: 0, column: 0 };

/** An editor of a cell without a view of its text: CodeMirror measures, which jsdom cannot. */
class PlainEditor {
  constructor({ host, model }: CodeEditor.IOptions) {
    this.host = host;
    this.model = model;
  }

  readonly uuid = UUID.uuid4();
  readonly edgeRequested = new Signal<this, string>(this);
  readonly host: HTMLElement;
  readonly model: CodeEditor.IModel;
  readonly lineCount = 1;
  isDisposed = false;

  dispose(): void {
    this.isDisposed = true;
    Signal.clearData(this);
  }

  getOption(): undefined {
    return undefined;
  }

  setOption(): void {
    return;
  }

  setOptions(): void {
    return;
  }

  setBaseOptions(): void {
    return;
  }

  focus(): void {
    this.host.focus();
  }

  blur(): void {
    return;
  }

  hasFocus(): boolean {
    return false;
  }

  getCursorPosition(): CodeEditor.IPosition {
    return START;
  }

  setCursorPosition(): void {
    return;
  }

  getSelection(): { start: CodeEditor.IPosition; end: CodeEditor.IPosition } {
    return { start: START, end: START };
  }
}

/** Makes such editors where JupyterLab wants one; it has what a still notebook asks of it. */
export function plainEditor(options: CodeEditor.IOptions): CodeEditor.IEditor {
  return new PlainEditor(options) as unknown as CodeEditor.IEditor;
}
