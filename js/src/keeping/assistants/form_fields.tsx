import * as React from 'react';

import { toolWords } from '../../views/words';
import { useTrans } from '../../views/scope';
import { useSignal } from '../../views/signal';
import type { AssistantForm } from './assistant_form';
import type { AssistantList } from './assistant_list';
import { type Complaints, LIMITS, namesakePlace, type FormSurroundings } from './checks';
import { ADAPTERS, type AssistantDraft, clamped, type FieldName, temperatureIn } from './draft';
import { Check, Field, type FieldFacts, TextField } from './field';
import { NamesField } from './names_field';
import { ScenesField } from './scenes_field';
import { adapterWords, fieldWords, placeWords, valueWords } from './words';

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
export function FormFields(props: FormFieldsProps) {
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
