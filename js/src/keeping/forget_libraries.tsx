import * as React from 'react';

import { Confirming } from '../pages/confirming';
import { Button } from '../views/button';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { Library } from './answers';
import type { LibraryList } from './library_list';

/** Takes all documents of a library out at once; the files stay. */
export function ForgetLibraries({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  const { libraries } = useSignal(list.changed, () => list.state);
  const [only] = libraries;
  if (only === undefined) {
    return null;
  }
  if (libraries.length === 1) {
    return (
      <Forget
        label={trans.__('Remove all documents')}
        question={questionOf(only, trans)}
        onDo={() => void list.forget(only.id)}
      />
    );
  }
  return (
    <section aria-label={trans.__('Libraries')}>
      <h3>{trans.__('Libraries')}</h3>
      <ul className="cw-libraries">
        {libraries.map(library => (
          <li key={library.id}>
            <span>
              {library.name} <span className="cw-muted">{library.place}</span>
            </span>
            <span className="cw-muted">
              {trans._n('%1 document', '%1 documents', library.documents)}
            </span>
            <Forget
              label={trans.__('Remove "%1"', library.name)}
              question={questionOf(library, trans)}
              onDo={() => void list.forget(library.id)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ForgetProps {
  readonly label: string;
  readonly question: string;
  readonly onDo: () => void;
}

function Forget({ label, question, onDo }: ForgetProps) {
  const trans = useTrans();
  const [isAsked, setAsked] = React.useState(false);
  if (!isAsked) {
    return (
      <Button
        kind="quiet"
        icon="trash"
        className="cw-forget"
        onClick={() => {
          setAsked(true);
        }}
      >
        {label}
      </Button>
    );
  }
  return (
    <Confirming
      question={question}
      label={trans.__('Remove')}
      onDo={() => {
        setAsked(false);
        onDo();
      }}
      onKeep={() => {
        setAsked(false);
      }}
    />
  );
}

function questionOf({ documents }: Library, trans: ReturnType<typeof useTrans>): string {
  return trans._n(
    'Take %1 document out of the library? Files in folders stay.',
    'Take %1 documents out of the library? Files in folders stay.',
    documents
  );
}
