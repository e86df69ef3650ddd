import * as React from 'react';

import { madeFiles, type MadeFile } from '../models/made_files';
import type { Turn } from '../models/types';
import { formatSize } from './figures';
import { Icon } from './icon';
import { useTrans } from './scope';

const MOST_SHOWN = 6;

/** How a file that a run made is opened; null: it cannot be from here. */
export type OpenMade = (file: MadeFile) => (() => void) | null;

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
