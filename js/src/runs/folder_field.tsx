import * as React from 'react';

import { useTrans } from '../views/scope';

interface FolderFieldProps {
  readonly folder: string;
  readonly onFolder: (folder: string) => void;
}

/** Where results are looked for; taken over with Enter or when the field is left. */
export function FolderField({ folder, onFolder }: FolderFieldProps) {
  const trans = useTrans();
  const [text, setText] = React.useState(folder);
  React.useEffect(() => {
    setText(folder);
  }, [folder]);
  const take = (): void => {
    const wanted = text.trim();
    if (wanted !== '' && wanted !== folder) {
      onFolder(wanted);
    }
  };
  return (
    <label className="cw-chooser">
      <span className="cw-muted">{trans.__('Folder')}</span>
      <input
        className="cw-field"
        value={text}
        title={trans.__('A folder below the one that JupyterLab was started in')}
        onChange={event => {
          setText(event.target.value);
        }}
        onBlur={take}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
            take();
          }
        }}
      />
    </label>
  );
}
