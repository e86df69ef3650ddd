/** Events as a run sends them. */
import type {
  CellAdded,
  CellEdited,
  CellFinished,
  CellMoved,
  CellOutput,
  CellRemoved,
  CellStarted,
  Execution,
  OutputMessage
} from '../../src/wire/generated';
import { complete } from '../complete';
import { sourceHash } from '../../src/notebook/source_hash';

export function added(id: string, more: Partial<CellAdded> = {}): CellAdded {
  const rest = { cell_type: 'code', after: '', call_id: 'call-1', source: `# ${id}` } as const;
  return { kind: 'cell_added', cell_id: id, ...rest, is_scratch: false, ...more };
}

export function edited(id: string, before: string, source: string, call = 'call-1'): CellEdited {
  const previous_hash = sourceHash(before);
  const change = { cell_id: id, source, previous_hash, call_id: call } as const;
  return { kind: 'cell_edited', ...change, outputs: null, execution_count: null };
}

export function removed(id: string, before: string, call = 'call-1'): CellRemoved {
  const previous_hash = sourceHash(before);
  return { kind: 'cell_removed', cell_id: id, previous_hash, call_id: call };
}

export function moved(id: string, after: string, call = 'call-1'): CellMoved {
  return { kind: 'cell_moved', cell_id: id, after, call_id: call };
}

export function started(id: string): CellStarted {
  return { kind: 'cell_started', cell_id: id };
}

export function output(id: string, message: OutputMessage): CellOutput {
  return { kind: 'cell_output', cell_id: id, message };
}

export function finished(id: string, execution: Partial<Execution> = {}): CellFinished {
  const ran = { status: 'ok', duration_seconds: 0.5, execution_count: 1, ...execution } as const;
  return { kind: 'cell_finished', cell_id: id, execution: complete('Execution', ran) };
}

export function printed(text: string, name = 'stdout'): OutputMessage {
  return { kind: 'stream', name, text };
}

export function shown(text: string, display_id = ''): OutputMessage {
  return { kind: 'display_data', data: { 'text/plain': text }, metadata: {}, display_id };
}

export function updated(text: string, display_id: string): OutputMessage {
  return { kind: 'update_display_data', data: { 'text/plain': text }, metadata: {}, display_id };
}

export function failed(ename: string, evalue: string): OutputMessage {
  return { kind: 'error', ename, evalue, traceback: [`${ename}: ${evalue}`] };
}
