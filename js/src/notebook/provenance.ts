import type { JsonObject } from '../wire/generated';
import { sourceHash } from './source_hash';

/** The key of a cell's metadata that says who wrote it. */
export const METADATA_KEY = 'cellwright';

/** Where an agent-written cell comes from. */
interface Provenance {
  readonly run: string;
  /** The tool call that wrote its text. */
  readonly call: string;
  /** Empty: not known. */
  readonly model: string;
  /** The tool call of the same run that added the cell; empty: none did, or it is not known. */
  readonly added: string;
  /** `sourceHash` of what the agent wrote; empty: not known. */
  readonly hash: string;
}

interface WithMetadata {
  getMetadata(key: string): unknown;
}

/** What a cell's metadata says; null: the agent did not write it. */
export function provenanceOf(cell: WithMetadata): Provenance | null {
  const value = cell.getMetadata(METADATA_KEY);
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const keys = ['run', 'call', 'model', 'hash', 'added'];
  const [run, call, model, hash, added] = keys.map(key => text(value, key));
  if (hash === '' && text(value, 'origin') !== 'agent') {
    return null;
  }
  return {
    run: run ?? '',
    call: call ?? '',
    model: model ?? '',
    hash: hash ?? '',
    added: added ?? ''
  };
}

export function provenanceMetadata(
  run: string,
  call: string,
  source: string,
  added = ''
): JsonObject {
  const mark = { run, call, hash: sourceHash(source) };
  return added === '' ? mark : { ...mark, added };
}

/** Whether somebody changed what the agent wrote. */
export function isEdited(provenance: Provenance, source: string): boolean {
  return provenance.hash !== '' && provenance.hash !== sourceHash(source);
}

function text(value: object, key: string): string {
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' ? found : '';
}
