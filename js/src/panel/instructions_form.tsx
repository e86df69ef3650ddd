import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import {
  ChatSettings,
  type FilterChoice,
  TEXT_FILTERS,
  type TextFilter
} from '../chat/chat_settings';
import { complaintOf } from '../client/problems';
import { Button } from '../ui/button';
import { useFocus, useSignal, useTrans } from '../ui/hooks';
import { rowsOf, saveOrLeave } from '../ui/text_edit';
import type { Chat, Panel } from './ports';

interface TextFiltersProps {
  /** Those that are on, as the server has them. */
  readonly names: readonly string[];
  /** What the person switched and did not save. */
  readonly choice: FilterChoice;
  readonly onChoose: (choice: FilterChoice) => void;
}

/** What is done to a person's words before the model is given them. */
function TextFilters({ names, choice, onChoose }: TextFiltersProps) {
  const trans = useTrans();
  const note = React.useId();
  return (
    <fieldset className="cw-text-filters" aria-describedby={note}>
      <legend>{trans.__('Before your words are sent')}</legend>
      {TEXT_FILTERS.map(filter => (
        <label key={filter}>
          <input
            type="checkbox"
            checked={choice[filter] ?? names.includes(filter)}
            onChange={event => {
              onChoose({ ...choice, [filter]: event.target.checked });
            }}
          />
          <span>{filterWords(filter, trans)}</span>
        </label>
      ))}
      <p id={note} className="cw-muted">
        {trans.__('Code between fences is never changed.')}
      </p>
    </fieldset>
  );
}

function filterWords(filter: TextFilter, trans: TranslationBundle): string {
  const words: Record<TextFilter, string> = {
    line_ends: trans.__('Windows line ends become plain ones'),
    terminal_colours: trans.__('Terminal colours are taken out'),
    blank_lines: trans.__('At most one blank line in a row')
  };
  return words[filter];
}

/** What the server keeps with a chat, read for each chat that is shown. */
export function useChatSettings(panel: Panel, chat: Chat): ChatSettings {
  const settings = React.useMemo(() => new ChatSettings(panel.rest, chat), [panel, chat]);
  const id = useSignal(chat.changed, () => chat.id);
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  React.useEffect(() => {
    settings.watch();
    return () => {
      settings.unwatch();
    };
  }, [settings]);
  React.useEffect(() => {
    if (isOpen) {
      void settings.refresh();
    }
  }, [settings, id, isOpen]);
  return settings;
}

const LIMIT_CHARACTERS = 1024;

interface InstructionsFormProps {
  readonly settings: ChatSettings;
  readonly onClose: () => void;
}

/** A chat's own instructions, and what is done to prompts: Ctrl+Enter saves, Escape leaves. */
export function InstructionsForm({ settings, onClose }: InstructionsFormProps) {
  const trans = useTrans();
  const id = React.useId();
  const [draft, setDraft] = React.useState<string | null>(null);
  const [choice, setChoice] = React.useState<FilterChoice>({});
  const kept = useSignal(settings.changed, () => settings.kept);
  const [problem, setProblem] = React.useState('');
  const field = useFocus<HTMLTextAreaElement>();
  const text = draft ?? kept.prompt;
  const count = Array.from(text.trim()).length;
  const isTooLong = count > LIMIT_CHARACTERS;
  const save = (): void => {
    if (!isTooLong) {
      setProblem('');
      settings.save(text, choice).then(onClose, (error: unknown) => {
        setProblem(complaintOf(error));
      });
    }
  };
  return (
    <section
      className="cw-instructions cw-entry"
      aria-labelledby={`${id}label`}
      onKeyDown={saveOrLeave(save, onClose)}
    >
      <label id={`${id}label`} htmlFor={`${id}field`}>
        {trans.__('Instructions for this chat')}
      </label>
      <textarea
        ref={field}
        id={`${id}field`}
        className="cw-field"
        rows={rowsOf(text, 3, 10)}
        value={text}
        placeholder={trans.__('Such as: answer in one sentence, use polars')}
        aria-describedby={`${id}about ${id}count`}
        aria-invalid={isTooLong}
        onChange={event => {
          setDraft(event.target.value);
        }}
      />
      <div className="cw-instructions-about">
        <p id={`${id}about`} className="cw-muted">
          {trans.__(
            "They replace the assistant's from the next prompt on. Leave it empty for the assistant's."
          )}
        </p>
        <span id={`${id}count`} className={isTooLong ? 'cw-problem' : 'cw-muted'}>
          {trans.__('%1 of %2 characters', count, LIMIT_CHARACTERS)}
        </span>
      </div>
      {kept.textFilters !== null && (
        <TextFilters names={kept.textFilters} choice={choice} onChoose={setChoice} />
      )}
      <div className="cw-row">
        <Button kind="primary" aria-disabled={isTooLong} onClick={save}>
          {trans.__('Save')}
        </Button>
        <Button onClick={onClose}>{trans.__('Cancel')}</Button>
      </div>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
