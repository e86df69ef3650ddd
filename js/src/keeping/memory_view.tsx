import * as React from 'react';

import { SearchField } from '../pages/fields';
import { Head } from '../pages/head';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { AddForm } from './add_form';
import type { Scope } from './answers';
import type { MemoryList } from './memory_list';
import { MemoryRow } from './memory_row';
import { Empty, PartView } from './part_view';
import { ProposalsView } from './proposals_view';
import { scopeWords } from './words';

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
