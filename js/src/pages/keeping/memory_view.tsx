import * as React from 'react';
import { flushSync } from 'react-dom';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Memory, MemoryProposal, Scope } from '../../client/keeping_rest';
import { Button, IconButton, LinkButton } from '../../ui/button';
import { Confirming } from '../../ui/confirming';
import { useSignal, useTrans } from '../../ui/hooks';
import { useOpener } from '../../ui/opening';
import { SearchField } from '../../ui/search_field';
import { TextEdit } from '../../ui/text_edit';
import { formatMoment } from '../../ui/words';
import { Empty, Head } from '../table';
import { scopeWords } from './keeping_page';
import type { MemoryList } from './kept_lists';
import { AddForm, PartView } from './part_view';

interface MemoryRowProps {
  readonly list: MemoryList;
  readonly memory: Memory;
}

/** A fact that can be changed or forgotten. */
const MemoryRow = React.memo(function MemoryRow({ list, memory }: MemoryRowProps) {
  const trans = useTrans();
  const [state, setState] = React.useState<'shown' | 'edited' | 'forgotten'>('shown');
  const row = React.useRef<HTMLTableRowElement>(null);
  const show = (): void => {
    flushSync(() => {
      setState('shown');
    });
    row.current?.querySelector('button')?.focus();
  };
  return (
    <tr ref={row}>
      <th scope="row" className="cw-fact">
        {state === 'edited' ? (
          <EditMemory list={list} memory={memory} onDone={show} />
        ) : (
          memory.text
        )}
        {state === 'forgotten' && (
          <Confirming
            question={trans.__('Forget this for good?')}
            label={trans.__('Forget')}
            onDo={() => {
              void list.forget(memory.id);
              show();
            }}
            onKeep={show}
          />
        )}
      </th>
      <td className="cw-when">{scopeWords(memory.scope, trans, memory.folder)}</td>
      <td className="cw-when">
        <Source run={memory.source_run} />
      </td>
      <td className="cw-when">{formatMoment(memory.updated_at)}</td>
      <td className="cw-row-actions">
        <IconButton
          icon="edit"
          label={trans.__('Change "%1"', memory.text)}
          onClick={() => {
            setState('edited');
          }}
        />
        <IconButton
          icon="trash"
          label={trans.__('Forget "%1"', memory.text)}
          onClick={() => {
            setState('forgotten');
          }}
        />
      </td>
    </tr>
  );
});

/** Who said it: the person, or the agent in a run. */
function Source({ run }: { readonly run: string }) {
  const trans = useTrans();
  const opener = useOpener();
  if (run === '') {
    return <>{trans.__('You')}</>;
  }
  const { run: open } = opener;
  return open === null ? (
    <>{trans.__('A run')}</>
  ) : (
    <LinkButton
      onClick={() => {
        open(run);
      }}
    >
      {trans.__('A run')}
    </LinkButton>
  );
}

function EditMemory({ list, memory, onDone }: MemoryRowProps & { readonly onDone: () => void }) {
  const trans = useTrans();
  const save = async (changed: string): Promise<void> => {
    if (changed === '') {
      return;
    }
    if (changed === memory.text || (await list.change(memory.id, changed))) {
      onDone();
    }
  };
  return (
    <TextEdit
      className="cw-fact-edit"
      text={memory.text}
      label={trans.__('Fact')}
      rows={() => 2}
      action={trans.__('Save')}
      isOff={text => text.trim() === ''}
      onSave={changed => void save(changed)}
      onCancel={onDone}
    />
  );
}

/** What the agent would like to remember, change or forget; nothing happens before an answer. */
function ProposalsView({ list }: { readonly list: MemoryList }) {
  const trans = useTrans();
  const { proposals, memories } = useSignal(list.changed, () => list.state);
  const title = React.useId();
  const texts = new Map(memories.map(({ id, text }) => [id, text]));
  return (
    <section className="cw-proposals" aria-labelledby={title}>
      <h3 id={title}>
        {trans._n(
          'The agent proposes %1 change',
          'The agent proposes %1 changes',
          proposals.length
        )}
      </h3>
      <ul>
        {proposals.map(proposal => (
          <ProposalView
            key={proposal.id}
            list={list}
            proposal={proposal}
            before={texts.get(proposal.memory_id) ?? ''}
          />
        ))}
      </ul>
    </section>
  );
}

interface ProposalViewProps {
  readonly list: MemoryList;
  readonly proposal: MemoryProposal;
  /** The fact as it is now; empty: it is not listed. */
  readonly before: string;
}

function ProposalView({ list, proposal, before }: ProposalViewProps) {
  const trans = useTrans();
  const { id, action, text, reason } = proposal;
  const isGone = action === 'delete';
  const said = isGone && text === '' ? before : text;
  return (
    <li className="cw-proposal">
      <div className="cw-proposal-words">
        <span className={`cw-proposal-kind cw-mod-${action}`}>{actionWords(action, trans)}</span>
        {action === 'update' && before !== '' && <del>{before}</del>}
        {isGone ? <del>{said}</del> : <strong>{said}</strong>}
        <span className="cw-muted">
          {reason !== '' && `${reason} `}
          {proposal.source_run !== '' && <Source run={proposal.source_run} />}
        </span>
      </div>
      <div className="cw-row">
        <Button
          kind="primary"
          icon="check"
          aria-label={trans.__('Accept "%1"', said)}
          onClick={() => void list.answer(id, true)}
        >
          {trans.__('Accept')}
        </Button>
        <Button
          icon="close"
          aria-label={trans.__('Reject "%1"', said)}
          onClick={() => void list.answer(id, false)}
        >
          {trans.__('Reject')}
        </Button>
      </div>
    </li>
  );
}

function actionWords(action: MemoryProposal['action'], trans: TranslationBundle): string {
  const words: Record<MemoryProposal['action'], string> = {
    add: trans.__('Remember'),
    update: trans.__('Change'),
    delete: trans.__('Forget')
  };
  return words[action];
}

const SCOPES: readonly Scope[] = ['user', 'project'];

/** Facts that the agent is given: add one, change one, forget one; answer what it proposes. */
export function MemoryView({ list }: { readonly list: MemoryList }) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { memories, proposals, query, is_on: isOn } = state;
  return (
    <PartView
      state={state}
      lead={trans.__(
        'What the agent is told about you and your work in later chats. Nothing is remembered without your consent.'
      )}
    >
      <MemorySwitch list={list} isOn={isOn} />
      {proposals.length > 0 && <ProposalsView list={list} />}
      <div className="cw-filters">
        <AddMemory list={list} />
        <SearchField
          label={trans.__('Search memories')}
          value={query}
          onSearch={text => {
            void list.search(text);
          }}
        />
      </div>
      {memories.length > 0 && (
        <table className="cw-table cw-memories">
          <Head
            columns={[
              { key: 'text', label: trans.__('Fact') },
              { key: 'scope', label: trans.__('Holds for') },
              { key: 'source', label: trans.__('From') },
              { key: 'changed', label: trans.__('Changed') },
              { key: 'actions', label: trans.__('Change or forget'), isHidden: true }
            ]}
          />
          <tbody>
            {memories.map(memory => (
              <MemoryRow key={memory.id} list={list} memory={memory} />
            ))}
          </tbody>
        </table>
      )}
      {memories.length === 0 && (
        <Empty state={state}>
          {query === ''
            ? trans.__('Nothing is remembered. Add a fact here, or ask the agent to remember one.')
            : trans.__('No memory fits')}
        </Empty>
      )}
    </PartView>
  );
}

interface MemorySwitchProps {
  readonly list: MemoryList;
  readonly isOn: boolean;
}

function MemorySwitch({ list, isOn }: MemorySwitchProps) {
  const trans = useTrans();
  const about = React.useId();
  return (
    <div className="cw-memory-switch">
      <label className="cw-switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          aria-describedby={about}
          onChange={event => {
            void list.switch(event.target.checked);
          }}
        />
        <span>{trans.__('Remember things')}</span>
      </label>
      <span id={about} className="cw-muted">
        {isOn
          ? trans.__('Facts go along with your prompts, and the agent may propose new ones.')
          : trans.__('What is here stays, but is not used, and nothing new is proposed.')}
      </span>
    </div>
  );
}

function AddMemory({ list }: { readonly list: MemoryList }) {
  const trans = useTrans();
  const [scope, setScope] = React.useState<Scope>('user');
  return (
    <AddForm
      label={trans.__('New fact')}
      placeholder={trans.__('Such as: prices are in euros')}
      button={trans.__('Add')}
      onAdd={text => list.add(text, scope)}
    >
      <label className="cw-chooser">
        <span className="cw-muted">{trans.__('Holds for')}</span>
        <select
          className="cw-field"
          value={scope}
          onChange={event => {
            setScope(event.target.value === 'project' ? 'project' : 'user');
          }}
        >
          {SCOPES.map(value => (
            <option key={value} value={value}>
              {scopeWords(value, trans)}
            </option>
          ))}
        </select>
      </label>
    </AddForm>
  );
}
