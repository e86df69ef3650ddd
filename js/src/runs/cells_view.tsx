import * as React from 'react';

import { formatSeconds } from '../models/figures';
import { Nothing } from '../pages/notes';
import { CodeBlock } from '../views/code_block';
import { useTrans } from '../views/scope';
import type { SampleCell } from './answers';
import { Outputs } from './outputs_view';

/** Each time a cell ran, with what it showed. */
export function CellsView({ cells }: { readonly cells: readonly SampleCell[] }) {
  const trans = useTrans();
  if (cells.length === 0) {
    return <Nothing>{trans.__('No cell ran')}</Nothing>;
  }
  return (
    <ol className="cw-steps">
      {cells.map((cell, place) => (
        <li key={place}>
          <CellView cell={cell} number={place + 1} />
        </li>
      ))}
    </ol>
  );
}

interface CellViewProps {
  readonly cell: SampleCell;
  readonly number: number;
}

const CellView = React.memo(function CellView({ cell, number }: CellViewProps) {
  const trans = useTrans();
  const title = trans.__('Cell %1', number);
  const origins: Partial<Record<string, string>> = {
    agent: trans.__('by the agent'),
    user: trans.__('by a person'),
    'human-edit': trans.__('edited by a person'),
    setup: trans.__('setup'),
    check: trans.__('check')
  };
  const isFailed = cell.status !== '' && cell.status !== 'ok';
  return (
    <article className={`cw-step ${isFailed ? 'cw-mod-failed' : ''}`} aria-label={title}>
      <h4>
        {title}{' '}
        <span className="cw-muted">
          {[origins[cell.origin] ?? cell.origin, formatSeconds(cell.seconds)].join(' · ')}
        </span>
        {isFailed && <span className="cw-outcome cw-mod-failed">{trans.__('Failed')}</span>}
      </h4>
      <CodeBlock text={cell.source} language="python" label={trans.__('Code of the cell')} />
      <Outputs outputs={cell.outputs} />
    </article>
  );
});
