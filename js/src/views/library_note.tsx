import * as React from 'react';

import { Button } from './button';
import { Icon } from './icon';
import type { LibraryOffers } from './library_offers';
import { useTrans } from './scope';

/** What went into the library instead of beside the prompt, and what did not get there. */
export function LibraryNote({ offers }: { readonly offers: LibraryOffers }) {
  const trans = useTrans();
  const { added, problem, attachToo } = offers;
  const [first] = added;
  return (
    <>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {trans.__('Attached, as the library did not take it: %1', problem)}
        </p>
      )}
      <div className="cw-library-note" role="status">
        {first !== undefined && (
          <>
            <Icon name="book" />
            <span>
              {added.length === 1
                ? trans.__('%1 went into the library.', first.name)
                : trans.__('%1 files went into the library.', added.length)}
            </span>
            <Button kind="quiet" onClick={attachToo}>
              {trans.__('Attach too')}
            </Button>
          </>
        )}
      </div>
    </>
  );
}
