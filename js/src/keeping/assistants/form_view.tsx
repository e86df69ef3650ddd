import * as React from 'react';
import { flushSync } from 'react-dom';

import { Confirming } from '../../pages/confirming';
import { Complaint } from '../../pages/notes';
import { Button } from '../../views/button';
import { useTrans } from '../../views/scope';
import { useSignal } from '../../views/signal';
import type { AssistantForm } from './assistant_form';
import type { AssistantList } from './assistant_list';
import { complaintsAbout, type FormSurroundings } from './checks';
import { ConflictNote } from './conflict_note';
import { FormFields } from './form_fields';

interface FormViewProps {
  readonly list: AssistantList;
  readonly form: AssistantForm;
}

/** The form of an assistant: Enter in a line or Ctrl+Enter saves, Escape leaves. */
export function FormView({ list, form }: FormViewProps) {
  const trans = useTrans();
  const id = React.useId();
  const root = React.useRef<HTMLFormElement>(null);
  const { assistants, places } = useSignal(list.changed, () => list.state);
  const state = useSignal(form.changed, () => form.state);
  const [asked, setAsked] = React.useState<'' | 'discard' | 'delete'>('');
  const around: FormSurroundings = { assistants, places, name: form.name };
  const complaints = complaintsAbout(state.draft, around, state.isTried, trans);
  React.useEffect(() => {
    if (list.takeFocus() !== null) {
      root.current?.querySelector<HTMLElement>('input, textarea')?.focus();
    }
  }, [list]);

  const save = async (): Promise<void> => {
    flushSync(() => {
      form.try();
    });
    const wrong = complaintsAbout(form.state.draft, around, true, trans);
    if (Object.keys(wrong).length === 0) {
      await list.save();
      return;
    }
    root.current?.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
  };
  const cancel = (): void => {
    if (form.isDirty) {
      setAsked('discard');
    } else {
      list.discard();
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      cancel();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      void save();
    }
  };
  return (
    <form
      ref={root}
      className="cw-assistant-form"
      aria-labelledby={`${id}title`}
      noValidate
      onKeyDown={onKeyDown}
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      <div>
        <Button
          kind="quiet"
          icon="chevron_left"
          className="cw-form-back"
          onClick={() => {
            list.leave();
          }}
        >
          {trans.__('All assistants')}
        </Button>
        <div className="cw-form-head">
          <h3 id={`${id}title`}>{form.name === '' ? trans.__('New assistant') : form.name}</h3>
          {state.saved !== null && (
            <code className="cw-muted cw-form-file">{state.saved.file}</code>
          )}
        </div>
      </div>
      <ConflictNote form={form} state={state} />
      <FormFields list={list} form={form} complaints={complaints} around={around} />
      <div className="cw-form-end">
        <Complaint text={state.problem} />
        {asked === '' ? (
          <FormActions
            list={list}
            form={form}
            isBusy={state.isBusy}
            onCancel={cancel}
            onDelete={() => {
              setAsked('delete');
            }}
          />
        ) : (
          <Asked
            kind={asked}
            name={form.name}
            onDo={() => {
              setAsked('');
              if (asked === 'delete') {
                void list.remove();
              } else {
                list.discard();
              }
            }}
            onKeep={() => {
              flushSync(() => {
                setAsked('');
              });
              root.current?.querySelector<HTMLElement>('.cw-form-save')?.focus();
            }}
          />
        )}
      </div>
    </form>
  );
}

interface FormActionsProps extends FormViewProps {
  readonly isBusy: boolean;
  readonly onCancel: () => void;
  readonly onDelete: () => void;
}

function FormActions({ list, form, isBusy, onCancel, onDelete }: FormActionsProps) {
  const trans = useTrans();
  const nameOf = (number: number): string => {
    const name = form.state.draft.name.trim();
    return number === 1
      ? trans.__('%1 copy', name).trim()
      : trans.__('%1 copy %2', name, number).trim();
  };
  return (
    <div className="cw-row">
      <button
        type="submit"
        className="cw-button cw-mod-primary cw-form-save"
        aria-disabled={isBusy}
      >
        <span>{trans.__('Save')}</span>
      </button>
      <Button onClick={onCancel}>{trans.__('Cancel')}</Button>
      <span className="cw-spring" />
      {form.name !== '' && (
        <>
          <Button
            kind="quiet"
            icon="copy"
            onClick={() => {
              list.duplicate(form, nameOf);
            }}
          >
            {trans.__('Duplicate')}
          </Button>
          <Button kind="quiet" icon="trash" onClick={onDelete}>
            {trans.__('Delete')}
          </Button>
        </>
      )}
    </div>
  );
}

interface AskedProps {
  readonly kind: 'discard' | 'delete';
  readonly name: string;
  readonly onDo: () => void;
  readonly onKeep: () => void;
}

function Asked({ kind, name, onDo, onKeep }: AskedProps) {
  const trans = useTrans();
  return kind === 'delete' ? (
    <Confirming
      question={trans.__('Delete "%1" with its file? What it said in chats stays.', name)}
      label={trans.__('Delete')}
      onDo={onDo}
      onKeep={onKeep}
    />
  ) : (
    <Confirming
      question={trans.__('Discard what you typed?')}
      label={trans.__('Discard')}
      onDo={onDo}
      onKeep={onKeep}
    />
  );
}
