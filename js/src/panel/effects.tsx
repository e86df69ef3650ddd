import * as React from 'react';

import { formatSize } from '../ui/figures';
import { useTrans } from '../ui/hooks';
import type { Execution } from '../wire/generated';

/** Variables and files that running it changed. */
export function Effects({ execution }: { execution: Execution }) {
  const trans = useTrans();
  const { changed, removed, files, note } = execution;
  return (
    <>
      {note !== '' && <p className="cw-muted">{note}</p>}
      {changed.length + removed.length > 0 && (
        <p className="cw-effects">
          <span className="cw-muted">{trans.__('Variables')}</span>
          {changed.map(variable => (
            <code key={variable.name} title={variable.text}>
              {variable.name}
            </code>
          ))}
          {removed.map(name => (
            <code key={name}>
              <del>{name}</del>
            </code>
          ))}
        </p>
      )}
      {files.length > 0 && (
        <p className="cw-effects">
          <span className="cw-muted">{trans.__('Files')}</span>
          {files.map(file => (
            <code key={file.path} title={formatSize(file.size_bytes)}>
              {file.change === 'deleted' ? <del>{file.path}</del> : file.path}
            </code>
          ))}
        </p>
      )}
    </>
  );
}
