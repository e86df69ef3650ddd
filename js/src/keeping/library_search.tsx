import * as React from 'react';

import { SearchField } from '../pages/fields';
import { Complaint, Nothing } from '../pages/notes';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { Hit } from './answers';
import type { LibraryList } from './library_list';
import { PlaceLink } from '../views/opening';

/** Passages that fit some words, numbered as an answer would name them. */
export function LibrarySearch({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  const { query, hits, searchProblem } = useSignal(list.changed, () => list.state);
  return (
    <section className="cw-library-search" aria-label={trans.__('Search the library')}>
      <SearchField
        label={trans.__('Search the library')}
        value={query}
        onSearch={text => {
          void list.search(text);
        }}
      />
      <Complaint text={searchProblem} />
      {hits !== null && hits.length === 0 && <Nothing>{trans.__('No passage fits')}</Nothing>}
      {hits !== null && hits.length > 0 && (
        <>
          <p className="cw-muted cw-page-count" role="status">
            {trans._n('%1 passage', '%1 passages', hits.length)}
          </p>
          <ol className="cw-hits">
            {hits.map(hit => (
              <HitView key={hit.number} hit={hit} />
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function HitView({ hit }: { readonly hit: Hit }) {
  const { number, name, place, anchor = '', text } = hit;
  return (
    <li className="cw-hit" value={number}>
      <span className="cw-hit-number" aria-hidden="true">
        {number}
      </span>
      <div>
        <PlaceLink place={place} anchor={anchor}>
          {name}
        </PlaceLink>{' '}
        <span className="cw-muted">{whereIn(hit)}</span>
        <p className="cw-hit-text" dir="auto">
          {text}
        </p>
      </div>
    </li>
  );
}

/** Where in its document a passage stands, each thing said once. */
function whereIn({ name, heading, anchor = '' }: Hit): string {
  const inside = heading.startsWith(name) ? heading.slice(name.length) : heading;
  const parts = [inside.replace(/^\s*›\s*/u, ''), anchor];
  return parts.filter((part, at) => part !== '' && (at === 0 || part !== parts[0])).join(' · ');
}
