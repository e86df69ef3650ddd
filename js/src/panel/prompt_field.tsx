import * as React from 'react';

import { useTrans } from '../ui/hooks';
import { filesOf } from '../ui/uploads';
import {
  type Candidate,
  complete,
  CompletionList,
  findTrigger,
  type NameSource,
  optionId,
  type Trigger,
  useCandidates
} from './completion';

/** What a key means in the composer. */
type ComposerAction = 'send' | 'instead' | 'later' | 'stop' | 'none';

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly withAccel: boolean;
  /** An input method is at work: its keys are its own. */
  readonly isComposing: boolean;
}

export function actionOfKey(
  press: KeyPress,
  sendWith: 'Enter' | 'Shift Enter',
  isRunning: boolean
): ComposerAction {
  if (press.isComposing) {
    return 'none';
  }
  if (press.altKey) {
    return isEnterAlone(press) ? 'later' : 'none';
  }
  if (press.key === 'Escape') {
    return isRunning ? 'stop' : 'none';
  }
  if (press.key !== 'Enter') {
    return 'none';
  }
  if (press.withAccel) {
    return 'instead';
  }
  return press.shiftKey === (sendWith === 'Shift Enter') ? 'send' : 'none';
}

function isEnterAlone({ key, shiftKey, withAccel }: KeyPress): boolean {
  return key === 'Enter' && !shiftKey && !withAccel;
}

/** Safari ends a composition before it tells of the key that ended it, and then says only this. */
const KEY_OF_INPUT_METHOD = 229;

function pressOf(event: React.KeyboardEvent): KeyPress {
  return {
    key: event.key,
    shiftKey: event.shiftKey,
    altKey: event.altKey,
    withAccel: event.ctrlKey || event.metaKey,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other sign of it
    isComposing: event.nativeEvent.isComposing || event.keyCode === KEY_OF_INPUT_METHOD
  };
}

interface PromptFieldProps {
  readonly field: React.RefObject<HTMLTextAreaElement>;
  readonly text: string;
  readonly placeholder: string;
  readonly source: NameSource;
  readonly onText: (text: string) => void;
  readonly onCandidate: (candidate: Candidate) => void;
  readonly onFiles: (files: readonly File[]) => void;
  /** A key that the completion left alone; true: it is used up. */
  readonly onPress: (press: KeyPress) => boolean;
}

/** The box for the prompt; completes `@assistants`, `@variables` and `#cells`. */
export function PromptField(props: PromptFieldProps) {
  const { field, text, placeholder, source, onText, onCandidate, onFiles, onPress } = props;
  const trans = useTrans();
  const [caret, setCaret] = React.useState<number | null>(null);
  const [active, setActive] = React.useState(0);
  const trigger = caret === null ? null : findTrigger(text, caret);
  const candidates = useCandidates(trigger, source);
  const list = React.useId();
  const chosenCaret = React.useRef<number | null>(null);
  useGrowth(field, text);
  // Before the next key comes: whoever types fast has gone on by the next frame.
  React.useLayoutEffect(() => {
    const position = chosenCaret.current;
    if (position !== null) {
      chosenCaret.current = null;
      field.current?.setSelectionRange(position, position);
    }
  }, [field, text]);

  const choose = (candidate: Candidate): void => {
    if (trigger !== null) {
      const completed = complete(text, trigger, candidate.text);
      onText(completed.text);
      onCandidate(candidate);
      setCaret(null);
      chosenCaret.current = completed.caret;
    }
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>): void => {
    const press = pressOf(event);
    const isUsed =
      completes(press, trigger, {
        count: candidates.list.length,
        active,
        setActive,
        close: () => {
          setCaret(null);
        },
        choose: () => {
          const chosen = candidates.list[active];
          if (chosen !== undefined) {
            choose(chosen);
          }
        }
      }) || onPress(press);
    if (isUsed) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const hasOptions = trigger !== null && candidates.list.length > 0;
  return (
    <div className="cw-prompt-field">
      {trigger !== null && (
        <CompletionList
          id={list}
          trigger={trigger}
          candidates={candidates}
          active={active}
          source={source}
          onActive={setActive}
          onChoose={choose}
        />
      )}
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        value={text}
        placeholder={placeholder}
        aria-label={trans.__('Prompt')}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        {...(hasOptions && {
          'aria-controls': list,
          'aria-activedescendant': optionId(list, active)
        })}
        onChange={event => {
          onText(event.target.value);
          setCaret(event.target.selectionStart);
          setActive(0);
        }}
        onBlur={() => {
          setCaret(null);
        }}
        onKeyDown={onKeyDown}
        onPaste={event => {
          const files = filesOf(event.clipboardData);
          // Office programs put a picture beside copied text: the text is meant.
          if (files.length > 0 && !event.clipboardData.types.includes('text/plain')) {
            event.preventDefault();
            onFiles(files);
          }
        }}
      />
    </div>
  );
}

interface CompletionControl {
  readonly count: number;
  readonly active: number;
  readonly setActive: (index: number) => void;
  readonly close: () => void;
  readonly choose: () => void;
}

/** Let an open completion take a key; false: it does not want it. */
function completes(press: KeyPress, trigger: Trigger | null, control: CompletionControl): boolean {
  if (trigger === null || press.isComposing) {
    return false;
  }
  const { count, active, setActive } = control;
  if (press.key === 'Escape') {
    control.close();
    return true;
  }
  if (count === 0) {
    return false;
  }
  switch (press.key) {
    case 'ArrowDown':
      setActive((active + 1) % count);
      return true;
    case 'ArrowUp':
      setActive((active + count - 1) % count);
      return true;
    case 'Enter':
    case 'Tab':
      control.choose();
      return true;
    default:
      return false;
  }
}

/** As high as its text, in the width that it has; the style sheet sets the most. */
function useGrowth(field: React.RefObject<HTMLTextAreaElement>, text: string): void {
  React.useLayoutEffect(() => {
    grow(field.current);
  }, [field, text]);
  React.useEffect(() => {
    const box = field.current;
    if (box === null) {
      return;
    }
    let width = box.clientWidth;
    const watch = new ResizeObserver(() => {
      if (box.clientWidth !== width) {
        width = box.clientWidth;
        grow(box);
      }
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
    };
  }, [field]);
}

function grow(box: HTMLTextAreaElement | null): void {
  if (box !== null) {
    box.style.height = 'auto';
    box.style.height = `${String(box.scrollHeight)}px`;
  }
}
