import type { FileChange } from '../events';
import type { Block } from './types';

/** A file that is there after a turn and was not, or was another, before it. */
export interface MadeFile {
  /** Relative to the kernel's folder. */
  readonly path: string;
  /** The kernel's folder, where it was told; else empty. */
  readonly folder: string;
  readonly isNew: boolean;
  readonly sizeBytes: number;
}

/** What a database keeps beside its file while it is open: nothing to look at. */
const BESIDE_A_DATABASE = /-(?:wal|shm|journal)$/u;

/** The files that the cells of a turn made or changed and did not delete again. */
export function madeFiles(blocks: readonly Block[]): readonly MadeFile[] {
  const found = new Map<string, MadeFile>();
  for (const block of blocks) {
    if (block.kind === 'tool' && block.execution !== null) {
      const { files, cwd } = block.execution;
      for (const file of files) {
        note(found, file, cwd);
      }
    }
  }
  return [...found.values()].sort((one, other) => Number(other.isNew) - Number(one.isNew));
}

function note(found: Map<string, MadeFile>, file: FileChange, folder: string): void {
  const { path, change, size_bytes: sizeBytes } = file;
  const key = `${folder}\n${path}`;
  const isNew = change === 'created' || found.get(key)?.isNew === true;
  found.delete(key);
  if (change !== 'deleted' && !BESIDE_A_DATABASE.test(path)) {
    found.set(key, { path, folder, isNew, sizeBytes });
  }
}

/** Where a file lies: in the kernel's folder where that is known, else beside the notebook. */
export function placeOf({ path, folder }: MadeFile, notebookPath: string): string {
  if (/^(?:\/|[A-Za-z]:)/u.test(path)) {
    return path;
  }
  const beside = notebookPath.split('/').slice(0, -1).join('/');
  const base = folder === '' ? beside : folder;
  return base === '' ? path : `${base}/${path}`;
}
