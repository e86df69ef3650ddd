import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { Button } from '../views/button';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { MemoryProposal } from './answers';
import type { MemoryList } from './memory_list';
import { Source } from './memory_row';

/** What the agent would like to remember, change or forget; nothing happens before an answer. */
export function ProposalsView({ list }: { readonly list: MemoryList }) {
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
