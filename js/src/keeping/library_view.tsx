import * as React from 'react';

import { Confirming } from '../pages/confirming';
import { Head } from '../pages/head';
import { IconButton } from '../views/button';
import { Icon } from '../views/icon';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { useDropZone } from '../views/uploads';
import { formatMoment } from '../views/words';
import { AddForm } from './add_form';
import type { LibraryDocument } from './answers';
import { ForgetLibraries } from './forget_libraries';
import type { LibraryList } from './library_list';
import { LibrarySearch } from './library_search';
import { PlaceLink } from '../views/opening';
import { Empty, PartView } from './part_view';
import { LibraryProgress, UploadButton, useLibraryUpload } from './upload_files';

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
        <UploadButton onFiles={upload} />
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

const LibraryRow = React.memo(function Row({ list, document }: LibraryRowProps) {
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
