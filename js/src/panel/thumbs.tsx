import * as React from 'react';

import { Button, IconButton } from '../ui/button';
import { useTrans } from '../ui/hooks';
import { usePins } from './pins';

interface ThumbsProps {
  readonly runId: string;
  /** Told whether there is a thumb now. */
  readonly onThumb: (isGiven: boolean) => void;
}

/** Says whether an answer is good; pressed again it says nothing. */
export function Thumbs({ runId, onThumb }: ThumbsProps) {
  const trans = useTrans();
  const { thumbs, setThumb } = usePins();
  if (thumbs === null) {
    return null;
  }
  const thumb = thumbs[runId];
  const press = (isUp: boolean): void => {
    const comment = thumb?.comment ?? '';
    const isGiven = thumb?.is_up !== isUp;
    setThumb(runId, isGiven ? { is_up: isUp, comment } : null);
    onThumb(isGiven);
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

interface ThumbCommentProps {
  readonly runId: string;
  /** Asked for: a thumb was just given. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Why the person thinks so: asked when they give a thumb, shown where they said it. */
export function ThumbComment({ runId, isOpen, onClose }: ThumbCommentProps) {
  const trans = useTrans();
  const { thumbs, setThumb } = usePins();
  const [words, setWords] = React.useState<string | null>(null);
  const field = React.useRef<HTMLInputElement>(null);
  const thumb = thumbs?.[runId];
  const isAsked = isOpen && thumb !== undefined;
  React.useEffect(() => {
    if (isAsked) {
      field.current?.focus();
    }
  }, [isAsked]);
  if (thumb === undefined || !(isOpen || thumb.comment !== '')) {
    return null;
  }
  const shown = words ?? thumb.comment;
  const isChanged = shown.trim() !== thumb.comment;
  const save = (): void => {
    if (isChanged) {
      setThumb(runId, { is_up: thumb.is_up, comment: shown.trim() });
    }
    setWords(null);
    onClose();
  };
  return (
    <div className="cw-thumb-comment">
      <input
        ref={field}
        className="cw-field"
        dir="auto"
        maxLength={2000}
        aria-label={trans.__('Comment on the answer')}
        placeholder={trans.__('Why? A comment is kept with the run')}
        value={shown}
        onChange={event => {
          setWords(event.target.value);
        }}
        onBlur={() => {
          if (!isChanged) {
            onClose();
          }
        }}
        onKeyDown={event => {
          if (event.nativeEvent.isComposing) {
            return;
          }
          if (event.key === 'Escape') {
            event.stopPropagation(); // around the field it would stop the run
            setWords(null);
            onClose();
          } else if (event.key === 'Enter') {
            save();
          }
        }}
      />
      {isChanged && <Button onClick={save}>{trans.__('Save')}</Button>}
    </div>
  );
}
