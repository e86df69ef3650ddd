import type { IOutputAreaModel } from '@jupyterlab/outputarea';
import type { IOutputModel } from '@jupyterlab/rendermime';

import type { StreamOutput } from '../events';

/** A line that is being written, and how many of its characters stand before the cursor. */
interface Line {
  readonly text: string;
  readonly cursor: number;
}

const CONTROL = /[\b\r]/;

/**
 * Adds text of a stream to a cell's outputs, where JupyterLab would put it.
 *
 * `OutputAreaModel.add` copies all of a stream's text for each backspace, carriage return and line
 * feed in what is added: a megabyte of them holds the page up for minutes. Here such text is folded
 * first, in linear time, so that the model is handed plain text.
 */
export class StreamWriter {
  add(outputs: IOutputAreaModel, message: StreamOutput): void {
    const { name, text } = message;
    const last = outputs.length > 0 ? outputs.get(outputs.length - 1) : null;
    const isSame = last?.type === 'stream' && last.toJSON().name === name;
    if (isSame && last.streamText !== undefined) {
      this._continue(last, text);
      return;
    }
    const line = writeText({ text: '', cursor: 0 }, text);
    outputs.add({ output_type: 'stream', name, text: line.text });
    this._cursors.set(outputs.get(outputs.length - 1), line.cursor);
  }

  private _continue(output: IOutputModel, text: string): void {
    const { streamText } = output;
    if (streamText === undefined) {
      return;
    }
    const old = streamText.text;
    // JupyterLab, too, goes on at the end of an output that a move or an undo made anew.
    const cursor = Math.min(this._cursors.get(output) ?? old.length, old.length);
    if (cursor === old.length && !CONTROL.test(text)) {
      streamText.insert(cursor, text);
      this._cursors.set(output, cursor + text.length);
      return;
    }
    const start = old.lastIndexOf('\n') + 1;
    const line = old.slice(start);
    const written = writeText({ text: line, cursor: Math.max(0, cursor - start) }, text);
    const same = sameLength(line, written.text);
    if (same < line.length) {
      // The notebook's file takes a removal for one up to the end.
      streamText.remove(start + same, old.length);
    }
    if (same < written.text.length) {
      streamText.insert(start + same, copyOf(written.text.slice(same)));
    }
    this._cursors.set(output, start + written.cursor);
  }

  private readonly _cursors = new WeakMap<IOutputModel, number>();
}

/**
 * What is there after text was written at the cursor of a line, by JupyterLab's rules.
 *
 * Characters replace those behind the cursor. A backspace deletes the character before the cursor
 * and the one behind it. A line feed ends the whole line, wherever the cursor stands in it.
 */
function writeText(line: Line, text: string): Line {
  const finished: string[] = [];
  let before = line.text.slice(0, line.cursor).split('');
  /** The nearest one last. */
  let behind = line.text.slice(line.cursor).split('').reverse();
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    switch (character) {
      case '\n':
        finished.push(joined(before, behind), '\n');
        before = [];
        behind = [];
        break;
      case '\r':
        while (before.length > 0) {
          behind.push(before.pop() ?? '');
        }
        break;
      case '\b':
        if (before.pop() !== undefined) {
          behind.pop();
        }
        break;
      default:
        before.push(character);
        behind.pop();
    }
  }
  const ended = finished.join('');
  return { text: ended + joined(before, behind), cursor: ended.length + before.length };
}

function joined(before: readonly string[], behind: readonly string[]): string {
  return before.join('') + [...behind].reverse().join('');
}

function sameLength(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let same = 0;
  while (same < length && one[same] === other[same]) {
    same++;
  }
  return same;
}

/** The text in memory of its own: engines let a piece of a string keep all of the string alive. */
function copyOf(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string;
}
