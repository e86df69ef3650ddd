import * as React from 'react';

import type { Hit, Indexing, Library, LibraryDocument } from '../../client/keeping_rest';
import { Button, Icon, IconButton } from '../../ui/button';
import { Confirming } from '../../ui/confirming';
import { useSignal, useTrans } from '../../ui/hooks';
import { PlaceLink } from '../../ui/opening';
import { SearchField } from '../../ui/search_field';
import { FileChooser, UPLOAD_LIMIT_BYTES, useDropZone } from '../../ui/uploads';
import { formatMoment } from '../../ui/words';
import { Complaint, Empty, Head, Nothing } from '../table';
import type { LibraryList } from './kept_lists';
import { AddForm, PartView } from './part_view';

/** Passages that fit some words, numbered as an answer would name them. */
function LibrarySearch({ list }: { readonly list: LibraryList }) {
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
  const { number, name, place, anchor, text } = hit;
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
function whereIn({ name, heading, anchor }: Hit): string {
  const inside = heading.startsWith(name) ? heading.slice(name.length) : heading;
  const parts = [inside.replace(/^\s*›\s*/u, ''), anchor];
  return parts.filter((part, at) => part !== '' && (at === 0 || part !== parts[0])).join(' · ');
}

/** Takes all documents of a library out at once; the files stay. */
function ForgetLibraries({ list }: { readonly list: LibraryList }) {
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

/** Sends files of this computer into the library; too large ones are not sent. */
function useLibraryUpload(list: LibraryList): (files: readonly File[]) => void {
  const trans = useTrans();
  return files => {
    void list.upload(files, ({ size }) =>
      size > UPLOAD_LIMIT_BYTES
        ? trans.__('It is larger than 20 MB. Put it into a folder of the server and add that.')
        : ''
    );
  };
}

/** How far sending and reading are, and what was not taken. */
function LibraryProgress({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  const { uploading, indexing, refused } = useSignal(list.changed, () => list.state);
  return (
    <>
      {uploading !== null && (
        <UploadProgress
          state={uploading}
          label={trans.__('Uploading files')}
          words={trans.__(
            'Uploading %1 of %2: %3',
            uploading.done + 1,
            uploading.total,
            uploading.name
          )}
        />
      )}
      {indexing !== null && (
        <UploadProgress
          state={indexing}
          label={trans.__('Reading documents')}
          words={trans.__(
            'Reading %1 of %2: %3',
            Math.min(indexing.done + 1, indexing.total),
            indexing.total,
            indexing.name
          )}
        />
      )}
      {refused.length > 0 && (
        <div className="cw-page-note cw-mod-error" role="alert">
          <Icon name="error" />
          <ul className="cw-refused">
            {refused.map(({ name, why }, place) => (
              <li key={place}>
                {!why.includes(name) && <strong>{name}</strong>} {why}
              </li>
            ))}
          </ul>
          <IconButton
            icon="close"
            label={trans.__('Close')}
            onClick={() => {
              list.clearRefused();
            }}
          />
        </div>
      )}
    </>
  );
}

interface UploadProgressProps {
  readonly state: Indexing;
  readonly label: string;
  readonly words: string;
}

function UploadProgress({ state: { done, total }, label, words }: UploadProgressProps) {
  return (
    <div className="cw-indexing">
      <progress aria-label={label} value={done} max={Math.max(total, 1)} />
      <span className="cw-muted" role="status">
        {words}
      </span>
    </div>
  );
}

/** The documents: add a place, look something up, take one out. */
export function LibraryView({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { documents, indexing } = state;
  const upload = useLibraryUpload(list);
  const zone = useDropZone(upload);
  return (
    <PartView
      state={state}
      drop={{ zone, words: trans.__('Drop files to add them') }}
      lead={trans.__(
        'Documents that the agent looks things up in. It names the places that an answer rests on.'
      )}
    >
      <div className="cw-filters">
        <AddPlace list={list} />
        <FileChooser label={trans.__('Upload files')} onFiles={upload}>
          {open => (
            <Button icon="up" onClick={open}>
              {trans.__('Upload files')}
            </Button>
          )}
        </FileChooser>
      </div>
      <LibraryProgress list={list} />
      {documents.length > 0 && <LibrarySearch list={list} />}
      {documents.length > 0 && (
        <table className="cw-table cw-documents" aria-label={trans.__('Documents')}>
          <Head
            columns={[
              { key: 'name', label: trans.__('Document') },
              { key: 'kind', label: trans.__('Kind') },
              { key: 'chunks', label: trans.__('Passages'), isNumber: true },
              { key: 'search', label: trans.__('Found by') },
              { key: 'read', label: trans.__('Read') },
              { key: 'actions', label: trans.__('Remove'), isHidden: true }
            ]}
          />
          <tbody>
            {documents.map(document => (
              <LibraryRow key={document.id} list={list} document={document} />
            ))}
          </tbody>
        </table>
      )}
      {documents.length > 1 && <ForgetLibraries list={list} />}
      {documents.length === 0 && indexing === null && (
        <Empty state={state}>
          {trans.__(
            'The library is empty. Add a folder with notes, papers or notebooks, or drop files here.'
          )}
        </Empty>
      )}
    </PartView>
  );
}

function AddPlace({ list }: { readonly list: LibraryList }) {
  const trans = useTrans();
  return (
    <AddForm
      label={trans.__('File, folder or address')}
      placeholder={trans.__('Such as: notes, paper.pdf')}
      button={trans.__('Add to the library')}
      onAdd={place => list.add(place)}
    />
  );
}

interface LibraryRowProps {
  readonly list: LibraryList;
  readonly document: LibraryDocument;
}

const LibraryRow = React.memo(function LibraryRow({ list, document }: LibraryRowProps) {
  const trans = useTrans();
  const [isAsked, setAsked] = React.useState(false);
  const { id, name, place, kind, chunks, is_embedded: isEmbedded, problem } = document;
  return (
    <tr>
      <th scope="row">
        <PlaceLink place={place}>{name}</PlaceLink>
        {place !== name && (
          <span className="cw-muted cw-path">{place === '' ? trans.__('Uploaded') : place}</span>
        )}
        {problem !== '' && (
          <span className="cw-kept-problem">
            <Icon name="warning" />
            {problem}
          </span>
        )}
        {isAsked && (
          <Confirming
            question={
              place === ''
                ? trans.__('Take it out of the library? What was uploaded goes too.')
                : trans.__('Take it out of the library? The file stays.')
            }
            label={trans.__('Remove')}
            onDo={() => {
              setAsked(false);
              void list.remove(id);
            }}
            onKeep={() => {
              setAsked(false);
            }}
          />
        )}
      </th>
      <td>{kind}</td>
      <td className="cw-number">{chunks}</td>
      <td>{isEmbedded ? trans.__('Words and meaning') : trans.__('Words')}</td>
      <td className="cw-when">{formatMoment(document.indexed_at)}</td>
      <td className="cw-row-actions">
        <IconButton
          icon="trash"
          label={trans.__('Remove "%1"', name)}
          onClick={() => {
            setAsked(true);
          }}
        />
      </td>
    </tr>
  );
});
