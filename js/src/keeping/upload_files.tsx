import * as React from 'react';

import { Button, IconButton } from '../views/button';
import { Icon } from '../views/icon';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { UPLOAD_LIMIT_BYTES } from '../views/uploads';
import type { Indexing } from './answers';
import type { LibraryList } from './library_list';

/** Sends files of this computer into the library; too large ones are not sent. */
export function useLibraryUpload(list: LibraryList): (files: readonly File[]) => void {
  const trans = useTrans();
  return files => {
    void list.upload(files, ({ size }) =>
      size > UPLOAD_LIMIT_BYTES
        ? trans.__('It is larger than 20 MB. Put it into a folder of the server and add that.')
        : ''
    );
  };
}

interface UploadButtonProps {
  readonly onFiles: (files: readonly File[]) => void;
}

export function UploadButton({ onFiles }: UploadButtonProps) {
  const trans = useTrans();
  const chooser = React.useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="up" onClick={() => chooser.current?.click()}>
        {trans.__('Upload files')}
      </Button>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={trans.__('Upload files')}
        onChange={event => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </>
  );
}

/** How far sending and reading are, and what was not taken. */
export function LibraryProgress({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  const { uploading, indexing, refused } = useSignal(list.changed, () => list.state);
  return (
    <>
      {uploading !== null && (
        <UploadProgress
          state={uploading}
          label={trans.__('Uploading files')}
          words={trans.__(
            'Uploading %1 of %2: %3',
            uploading.done + 1,
            uploading.total,
            uploading.name
          )}
        />
      )}
      {indexing !== null && (
        <UploadProgress
          state={indexing}
          label={trans.__('Reading documents')}
          words={trans.__(
            'Reading %1 of %2: %3',
            Math.min(indexing.done + 1, indexing.total),
            indexing.total,
            indexing.name
          )}
        />
      )}
      {refused.length > 0 && (
        <div className="cw-page-note cw-mod-error" role="alert">
          <Icon name="error" />
          <ul className="cw-refused">
            {refused.map(({ name, why }, place) => (
              <li key={place}>
                {!why.includes(name) && <strong>{name}</strong>} {why}
              </li>
            ))}
          </ul>
          <IconButton
            icon="close"
            label={trans.__('Close')}
            onClick={() => {
              list.clearRefused();
            }}
          />
        </div>
      )}
    </>
  );
}

interface UploadProgressProps {
  readonly state: Indexing;
  readonly label: string;
  readonly words: string;
}

function UploadProgress({ state: { done, total }, label, words }: UploadProgressProps) {
  return (
    <div className="cw-indexing">
      <progress aria-label={label} value={done} max={Math.max(total, 1)} />
      <span className="cw-muted" role="status">
        {words}
      </span>
    </div>
  );
}
