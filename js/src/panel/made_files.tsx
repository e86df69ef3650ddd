import * as React from 'react';

import type { Block, Turn } from '../chat/types';
import { Icon } from '../ui/button';
import { formatSize } from '../ui/figures';
import { useTrans } from '../ui/hooks';
import type { FileChange } from '../wire/generated';

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

const MOST_SHOWN = 6;

/** How a file that a run made is opened; null: it cannot be from here. */
type OpenMade = (file: MadeFile) => (() => void) | null;

const OpenMadeContext = React.createContext<OpenMade>(() => null);

export const OpenMadeProvider = OpenMadeContext.Provider;

/** The files that a turn left, each a way to it. */
export function MadeFiles({ turn }: { readonly turn: Pick<Turn, 'blocks'> }) {
  const trans = useTrans();
  const files = React.useMemo(() => madeFiles(turn.blocks), [turn.blocks]);
  const [isWhole, setWhole] = React.useState(false);
  if (files.length === 0) {
    return null;
  }
  const shown = isWhole ? files : files.slice(0, MOST_SHOWN);
  return (
    <ul className="cw-chips cw-made" aria-label={trans.__('Files of this run')}>
      {shown.map(file => (
        <Made key={`${file.folder}/${file.path}`} file={file} />
      ))}
      {shown.length < files.length && (
        <li>
          <button
            type="button"
            className="cw-chip cw-chip-button"
            onClick={() => {
              setWhole(true);
            }}
          >
            {trans.__('%1 more', files.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  );
}

function Made({ file }: { readonly file: MadeFile }) {
  const trans = useTrans();
  const open = React.useContext(OpenMadeContext)(file);
  const name = file.path.split('/').at(-1) ?? file.path;
  const title = `${file.path} · ${formatSize(file.sizeBytes)}`;
  const words = (
    <>
      <Icon name="file" />
      <span>{file.isNew ? trans.__('Made: %1', name) : trans.__('Changed: %1', name)}</span>
    </>
  );
  return (
    <li>
      {open === null ? (
        <span className="cw-chip" title={title}>
          {words}
        </span>
      ) : (
        <button type="button" className="cw-chip cw-chip-button" title={title} onClick={open}>
          {words}
        </button>
      )}
    </li>
  );
}
