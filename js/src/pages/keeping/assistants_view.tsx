import * as React from 'react';

import type { ListedAssistant } from '../../client/assistants_rest';
import type { UsageRow } from '../../client/keeping_rest';
import { Button, Icon, LinkButton } from '../../ui/button';
import { formatCount, formatDollars } from '../../ui/figures';
import { keyOf, useSignal, useTrans } from '../../ui/hooks';
import { Empty, Head } from '../table';
import { FormView } from './assistant_form_view';
import type { AssistantForm, AssistantList, AssistantsState } from './assistant_list';
import { folderWords, placeWords } from './assistant_words';
import { PartView } from './part_view';

/** The assistants in a list, or one of them in a form. */
export function AssistantsView({ list }: { readonly list: AssistantList }) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { open } = state;
  return (
    <PartView
      state={state}
      lead={
        open !== null
          ? ''
          : trans.__(
              'Instructions, a model and tools under a name. Choose one beside the prompt, or begin a prompt with @ and its name. Each is a file that a project can carry.'
            )
      }
    >
      {open !== null ? (
        // What it asked of the person goes with it.
        <FormView key={keyOf(open)} list={list} form={open} />
      ) : (
        <Listed list={list} state={state} />
      )}
    </PartView>
  );
}

interface ListedProps {
  readonly list: AssistantList;
  readonly state: AssistantsState;
}

function Listed({ list, state }: ListedProps) {
  const trans = useTrans();
  const root = React.useRef<HTMLDivElement>(null);
  const { assistants, problems, places, unsaved, done } = state;
  const begun = unsaved.filter(({ name }) => name === '');
  const canWrite = places.length > 0;
  React.useEffect(() => {
    const focus = list.takeFocus();
    if (focus !== null) {
      const rows = [...(root.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
      const row = rows.find(({ dataset }) => dataset.row === focus);
      (row ?? root.current?.querySelector<HTMLElement>('.cw-new-assistant'))?.focus();
    }
  }, [list]);
  return (
    <div ref={root}>
      {problems.map(problem => (
        <p key={problem} className="cw-page-note cw-mod-warning">
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      ))}
      <div className="cw-assistants-bar">
        {canWrite && (
          <Button
            icon="plus"
            className="cw-new-assistant"
            onClick={() => {
              void list.begin();
            }}
          >
            {trans.__('New assistant')}
          </Button>
        )}
        <span className="cw-muted" role="status">
          {done !== null && doneWords(done, trans)}
        </span>
      </div>
      {assistants.length + begun.length > 0 && (
        <div className="cw-assistants">
          <table className="cw-table" aria-label={trans.__('Assistants')}>
            <Head
              columns={[
                { key: 'name', label: trans.__('Assistant') },
                { key: 'description', label: trans.__('What it does') },
                { key: 'model', label: trans.__('Model') },
                { key: 'place', label: trans.__('From') },
                { key: 'tokens', label: trans.__('Tokens'), isNumber: true },
                { key: 'cost', label: trans.__('Cost'), isNumber: true }
              ]}
            />
            <tbody>
              {begun.map((form, place) => (
                <BegunRow key={place} list={list} form={form} />
              ))}
              {assistants.map(assistant => (
                <AssistantRow
                  key={assistant.name}
                  list={list}
                  state={state}
                  assistant={assistant}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {assistants.length + begun.length === 0 && (
        <Empty state={state}>
          {trans.__(
            'There is none yet. Write one for work that comes again: a reviewer, a plotter, one that answers in your language.'
          )}
        </Empty>
      )}
    </div>
  );
}

interface AssistantRowProps extends ListedProps {
  readonly assistant: ListedAssistant;
}

function AssistantRow({ list, state, assistant }: AssistantRowProps) {
  const trans = useTrans();
  const { name, description, model, place } = assistant;
  const { places, unsaved, notebook } = state;
  const folder = folderWords(place, places);
  const isUnsaved = unsaved.some(form => form.name === name && form.notebook === notebook);
  return (
    <tr>
      <th scope="row" className="cw-assistant-name">
        {places.length === 0 ? (
          name
        ) : (
          <LinkButton
            data-row={name}
            onClick={() => {
              void list.edit(name);
            }}
          >
            {name}
          </LinkButton>
        )}
        <Marks
          isUnsaved={isUnsaved}
          marks={[
            assistant.is_default && trans.__('Default'),
            assistant.is_public && trans.__('Guests too')
          ]}
        />
      </th>
      <td className="cw-why">{description}</td>
      <td>{model === '' ? <span className="cw-muted">{trans.__('As it is set')}</span> : model}</td>
      <td>
        {placeWords(place, trans)}
        {folder !== '' && <span className="cw-muted cw-path">{folder}</span>}
      </td>
      <UsageCells usage={state.usage.get(name)} />
    </tr>
  );
}

/** What it took; nobody knows of one that was never asked. */
function UsageCells({ usage }: { readonly usage: UsageRow | undefined }) {
  const cost = usage?.cost_dollars ?? null;
  return (
    <>
      <td className="cw-number">
        {usage === undefined ? '–' : formatCount(usage.input_tokens + usage.output_tokens)}
      </td>
      <td className="cw-number">{cost === null ? '–' : formatDollars(cost)}</td>
    </>
  );
}

interface BegunRowProps {
  readonly list: AssistantList;
  readonly form: AssistantForm;
}

/** A new one that is not saved. */
function BegunRow({ list, form }: BegunRowProps) {
  const trans = useTrans();
  const { draft } = form.state;
  return (
    <tr>
      <th scope="row" className="cw-assistant-name">
        <LinkButton
          onClick={() => {
            list.resume(form);
          }}
        >
          {draft.name.trim() === '' ? trans.__('New assistant') : draft.name}
        </LinkButton>
        <Marks isUnsaved marks={[]} />
      </th>
      <td className="cw-why">{draft.description}</td>
      <td>{draft.model}</td>
      <td>{placeWords(draft.place, trans)}</td>
      <UsageCells usage={undefined} />
    </tr>
  );
}

interface MarksProps {
  readonly marks: readonly (string | false)[];
  readonly isUnsaved: boolean;
}

function Marks({ marks, isUnsaved }: MarksProps) {
  const trans = useTrans();
  const shown = marks.filter(mark => mark !== false);
  return !isUnsaved && shown.length === 0 ? null : (
    <span className="cw-marks">
      {isUnsaved && <span className="cw-mark cw-mod-unsaved">{trans.__('Not saved')}</span>}
      {shown.map(mark => (
        <span key={mark} className="cw-mark">
          {mark}
        </span>
      ))}
    </span>
  );
}

function doneWords(
  { kind, name }: NonNullable<AssistantsState['done']>,
  trans: ReturnType<typeof useTrans>
): string {
  return kind === 'saved' ? trans.__('"%1" is saved.', name) : trans.__('"%1" is deleted.', name);
}
