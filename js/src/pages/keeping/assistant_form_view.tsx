import * as React from 'react';
import { flushSync } from 'react-dom';

import { Button, Icon } from '../../ui/button';
import { Confirming } from '../../ui/confirming';
import { useSignal, useTrans } from '../../ui/hooks';
import { saveOrLeave } from '../../ui/text_edit';
import { toolWords } from '../../ui/words';
import { Complaint } from '../table';
import {
  ADAPTERS,
  type AssistantDraft,
  clamped,
  type Complaints,
  complaintsAbout,
  type FieldName,
  FIELDS,
  type FormSurroundings,
  LIMITS,
  namesakePlace,
  temperatureIn
} from './assistant_draft';
import {
  Check,
  Field,
  type FieldFacts,
  NamesField,
  ScenesField,
  TextField
} from './assistant_fields';
import type { AssistantForm, AssistantList, FormState } from './assistant_list';
import { adapterWords, fieldWords, placeWords, valueWords } from './assistant_words';

const AUTO = 'auto';

/** Patterns that stand for several of the agent's own tools, and tools that are not always there. */
const PATTERNS = ['read_*', 'list_*', '*_cell'] as const;
const SOMETIMES = ['search_library', 'remember', 'recall'] as const;

interface FormFieldsProps {
  readonly list: AssistantList;
  readonly form: AssistantForm;
  readonly complaints: Complaints;
  readonly around: FormSurroundings;
}

/** All that can be said of an assistant. */
function FormFields(props: FormFieldsProps) {
  return (
    <>
      <Naming {...props} />
      <Modelling {...props} />
      <Reaching {...props} />
      <Behaving {...props} />
      <Staging {...props} />
    </>
  );
}

/** What a section needs of its form. */
function useForm({ form, complaints }: FormFieldsProps) {
  const trans = useTrans();
  const { draft, theirs } = useSignal(form.changed, () => form.state);
  const factsOf = (field: FieldName): FieldFacts & { readonly label: string } => ({
    label: fieldWords(field, trans),
    complaint: complaints[field],
    ...(field in theirs && {
      theirs: valueWords(field, theirs, trans),
      onTake: () => {
        form.take(field);
      }
    })
  });
  const change = (changed: Partial<AssistantDraft>): void => {
    form.change(changed);
  };
  return { trans, draft, factsOf, change };
}

/** Its name, where it is, and what it is for. */
function Naming(props: FormFieldsProps) {
  const { trans, draft, factsOf, change } = useForm(props);
  const { places } = props.around;
  const namesake = namesakePlace(draft, props.around);
  return (
    <div className="cw-form-group">
      <div className="cw-form-pair">
        <TextField
          {...factsOf('name')}
          value={draft.name}
          placeholder={trans.__('Such as: reviewer')}
          note={
            namesake === ''
              ? undefined
              : trans.__(
                  'There is one of this name in another place: %1. The nearer one counts.',
                  placeWords(namesake, trans)
                )
          }
          onValue={name => {
            change({ name });
          }}
        />
        {props.form.name === '' && (
          <Field
            label={trans.__('Where its file is')}
            value={draft.place}
            note={places.find(({ place }) => place === draft.place)?.folder}
          >
            {ties => (
              <select
                {...ties}
                className="cw-field"
                value={draft.place}
                onChange={event => {
                  change({ place: event.target.value });
                }}
              >
                {places.map(({ place }) => (
                  <option key={place} value={place}>
                    {placeWords(place, trans)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      <TextField
        {...factsOf('description')}
        value={draft.description}
        placeholder={trans.__('Shown where it is chosen')}
        onValue={description => {
          change({ description });
        }}
      />
      <TextField
        {...factsOf('instructions')}
        value={draft.instructions}
        limit={LIMITS.instructions}
        rows={8}
        placeholder={trans.__('What the model is told with every prompt')}
        onValue={instructions => {
          change({ instructions });
        }}
      />
    </div>
  );
}

/** Which model answers, and how it is talked with. */
function Modelling(props: FormFieldsProps) {
  const { trans, draft, factsOf, change } = useForm(props);
  const { models } = useSignal(props.list.changed, () => props.list.state.offers);
  const typed = temperatureIn(draft.temperature);
  const counts = clamped(typed);
  return (
    <div className="cw-form-group cw-form-pair cw-mod-three">
      <TextField
        {...factsOf('model')}
        value={draft.model}
        offers={[AUTO, ...models.filter(name => name !== AUTO)]}
        placeholder={trans.__('As it is set')}
        note={
          draft.model.trim() === AUTO
            ? trans.__('The set model, or another one for pictures and long chats.')
            : undefined
        }
        onValue={model => {
          change({ model });
        }}
      />
      <TextField
        {...factsOf('temperature')}
        value={draft.temperature}
        placeholder={trans.__('As the provider has it')}
        inputMode="decimal"
        note={
          counts !== null && counts !== typed && !Number.isNaN(counts)
            ? trans.__('Counts as %1: it goes from 0.1 to 1.', counts)
            : undefined
        }
        onValue={temperature => {
          change({ temperature });
        }}
      />
      <TextField
        {...factsOf('effort')}
        value={draft.effort}
        offers={['low', 'medium', 'high']}
        placeholder={trans.__('As the model has it')}
        onValue={effort => {
          change({ effort });
        }}
      />
      <Field {...factsOf('adapter')} value={draft.adapter}>
        {ties => (
          <select
            {...ties}
            className="cw-field"
            value={draft.adapter}
            onChange={event => {
              change({ adapter: event.target.value });
            }}
          >
            {ADAPTERS.map(adapter => (
              <option key={adapter} value={adapter}>
                {adapterWords(adapter, trans)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

/** What it can reach: tools and documents. */
function Reaching(props: FormFieldsProps) {
  const { trans, draft, factsOf, change } = useForm(props);
  const { tools, documents } = useSignal(props.list.changed, () => props.list.state.offers);
  const own = toolWords(trans);
  return (
    <>
      <NamesField
        {...factsOf('tools')}
        choices={{ all: trans.__('All tools'), chosen: trans.__('Only these') }}
        names={draft.tools}
        newName={trans.__('Name or pattern of a tool')}
        placeholder={trans.__('Such as: read_*, run_cell')}
        empty={trans.__('None is named: it can only talk.')}
        offers={[...PATTERNS, ...Object.keys(own), ...SOMETIMES, ...tools]}
        words={own}
        onNames={names => {
          change({ tools: names });
        }}
      />
      <NamesField
        {...factsOf('library')}
        choices={{
          all: trans.__('All documents'),
          none: trans.__('None'),
          chosen: trans.__('Only these')
        }}
        names={draft.library}
        newName={trans.__('Name, place or pattern of a document')}
        placeholder={trans.__('Such as: prices.md, papers/*')}
        empty={trans.__('None is named: it looks nothing up.')}
        offers={documents}
        onNames={names => {
          change({ library: names });
        }}
      />
    </>
  );
}

/** What is so or not. */
function Behaving(props: FormFieldsProps) {
  const { trans, draft, factsOf, change } = useForm(props);
  return (
    <fieldset className="cw-form-group">
      <legend>{trans.__('How it works')}</legend>
      <Check
        {...factsOf('disable_memory')}
        note={trans.__('Facts that are remembered go along, and it may propose new ones.')}
        isOn={!draft.disable_memory}
        onSwitch={isOn => {
          change({ disable_memory: !isOn });
        }}
      />
      <Check
        {...factsOf('disable_default_prompt')}
        note={trans.__('Stands before its own instructions.')}
        isOn={!draft.disable_default_prompt}
        onSwitch={isOn => {
          change({ disable_default_prompt: !isOn });
        }}
      />
      <Check
        {...factsOf('disable_web_browsing')}
        note={trans.__('With tools that do so, where there are any.')}
        isOn={!draft.disable_web_browsing}
        onSwitch={isOn => {
          change({ disable_web_browsing: !isOn });
        }}
      />
      <Check
        {...factsOf('is_default')}
        note={trans.__('"@cellwright" in front of a prompt asks without it.')}
        isOn={draft.is_default}
        onSwitch={isOn => {
          change({ is_default: isOn });
        }}
      />
      <Check
        {...factsOf('is_public')}
        note={trans.__('On a server that people share.')}
        isOn={draft.is_public}
        onSwitch={isOn => {
          change({ is_public: isOn });
        }}
      />
      {(draft.is_public || draft.memory_for_guests) && (
        <Check
          {...factsOf('memory_for_guests')}
          note={trans.__('What guests say is never remembered.')}
          isOn={draft.memory_for_guests}
          onSwitch={isOn => {
            change({ memory_for_guests: isOn });
          }}
        />
      )}
    </fieldset>
  );
}

/** Its scenes. */
function Staging(props: FormFieldsProps) {
  const { draft, factsOf, change } = useForm(props);
  return (
    <ScenesField
      {...factsOf('scenes')}
      scenes={draft.scenes}
      complaints={props.complaints}
      onScenes={scenes => {
        change({ scenes });
      }}
    />
  );
}

interface ConflictNoteProps {
  readonly form: AssistantForm;
  readonly state: FormState;
}

/** That the file is not what it was, and what becomes of what was typed. */
function ConflictNote({ form, state }: ConflictNoteProps) {
  const trans = useTrans();
  const contested = FIELDS.filter(field => field in state.theirs);
  if (state.conflict === '') {
    return contested.length === 0 ? null : (
      <FieldConflict isAlert={false}>
        {trans.__(
          'Changed here and in the file: %1. What you typed counts when you save.',
          contested.map(field => fieldWords(field, trans)).join(', ')
        )}
      </FieldConflict>
    );
  }
  return state.conflict === 'gone' ? (
    <FieldConflict isAlert>
      {trans.__(
        'The file of this assistant is not there any more. What you typed is kept: "Duplicate" makes a new assistant of it.'
      )}
    </FieldConflict>
  ) : (
    <FieldConflict isAlert>
      <span>
        {trans.__(
          'The file of this assistant was changed meanwhile, so nothing was saved. What you typed is kept.'
        )}
      </span>
      <Button
        icon="redo"
        onClick={() => {
          void form.readAgain();
        }}
      >
        {trans.__('Load it again')}
      </Button>
    </FieldConflict>
  );
}

interface FieldConflictProps {
  readonly isAlert: boolean;
  readonly children: React.ReactNode;
}

function FieldConflict({ isAlert, children }: FieldConflictProps) {
  return (
    <div className="cw-page-note cw-form-conflict" role={isAlert ? 'alert' : 'status'}>
      <Icon name="warning" />
      <div>{children}</div>
    </div>
  );
}

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
  return (
    <form
      ref={root}
      className="cw-assistant-form"
      aria-labelledby={`${id}title`}
      noValidate
      onKeyDown={saveOrLeave(() => void save(), cancel)}
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
