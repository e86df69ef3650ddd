import * as React from 'react';

import { Button, IconButton } from '../ui/button';
import { useTrans } from '../ui/hooks';
import { usePins } from './pins';

/** Says whether an answer is good; pressed again it says nothing. */
export function Thumbs({ runId }: { runId: string }) {
  const trans = useTrans();
  const { thumbs, setThumb } = usePins();
  if (thumbs === null) {
    return null;
  }
  const thumb = thumbs[runId];
  const press = (isUp: boolean): void => {
    const comment = thumb?.comment ?? '';
    setThumb(runId, thumb?.is_up === isUp ? null : { is_up: isUp, comment });
  };
  return (
    <span className="cw-thumbs" role="group" aria-label={trans.__('What you think of it')}>
      <IconButton
        icon="thumb_up"
        label={trans.__('Good answer')}
        aria-pressed={thumb?.is_up === true}
        onClick={() => {
          press(true);
        }}
      />
      <IconButton
        icon="thumb_down"
        label={trans.__('Bad answer')}
        aria-pressed={thumb?.is_up === false}
        onClick={() => {
          press(false);
        }}
      />
    </span>
  );
}

/** Why the person thinks so, once there is a thumb. */
export function ThumbComment({ runId }: { runId: string }) {
  const trans = useTrans();
  const { thumbs, setThumb } = usePins();
  const [words, setWords] = React.useState<string | null>(null);
  const thumb = thumbs?.[runId];
  if (thumb === undefined) {
    return null;
  }
  const shown = words ?? thumb.comment;
  const isChanged = shown.trim() !== thumb.comment;
  const save = (): void => {
    if (isChanged) {
      setThumb(runId, { is_up: thumb.is_up, comment: shown.trim() });
    }
    setWords(null);
  };
  return (
    <div className="cw-thumb-comment">
      <input
        className="cw-field"
        dir="auto"
        maxLength={2000}
        aria-label={trans.__('Comment on the answer')}
        placeholder={trans.__('Why? A comment is kept with the run')}
        value={shown}
        onChange={event => {
          setWords(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            setWords(null);
          } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
            save();
          }
        }}
      />
      {isChanged && <Button onClick={save}>{trans.__('Save')}</Button>}
    </div>
  );
}
