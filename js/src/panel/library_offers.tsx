import * as React from 'react';

import type { UploadedFile } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { Button, Icon } from '../ui/button';
import { useTrans } from '../ui/hooks';
import type { Chat, Panel } from './ports';
import type { ContextItem } from '../chat/types';

/** Where files go that a library would take; empty: the person was not asked yet. */
export type DocumentChoice = '' | 'attach' | 'library';

type FileItem = Extract<ContextItem, { kind: 'file' }>;

/** What becomes of uploaded files that a library would take. */
export interface LibraryOffers {
  /** Whether it is asked of a file beside the prompt. */
  readonly isAsked: (item: ContextItem) => boolean;
  /** Files that went into a library since the last prompt. */
  readonly added: readonly FileItem[];
  /** Why a file did not get into a library; empty: nothing went wrong. */
  readonly problem: string;
  /** A file was uploaded: put it where the person wants it, or ask. */
  readonly take: (file: UploadedFile) => void;
  /** Answer for all that is asked about, and for what comes later. */
  readonly choose: (choice: Exclude<DocumentChoice, ''>) => void;
  /** Put what went into a library beside the prompt as well, and ask again next time. */
  readonly attachToo: () => void;
  /** The prompt is on its way: what is not answered stays beside it. */
  readonly end: () => void;
}

/**
 * @param panel - The server that keeps the libraries.
 * @param chat - The chat that the files are for.
 * @param choice - What the person chose last; lasts as long as the panel.
 */
export function useLibraryOffers(
  panel: Panel,
  chat: Chat,
  choice: React.MutableRefObject<DocumentChoice>
): LibraryOffers {
  const { composer } = chat;
  /** The library that would take a file, by what the file is named by. */
  const [offered, setOffered] = React.useState<ReadonlyMap<string, string>>(new Map());
  const [added, setAdded] = React.useState<readonly FileItem[]>([]);
  const [problem, setProblem] = React.useState('');
  const isAsked = (item: ContextItem): item is FileItem =>
    item.kind === 'file' && offered.has(item.file);
  const put = async (item: FileItem, library: string): Promise<void> => {
    const { notebook_path: notebook } = chat.state;
    try {
      await panel.rest.addDocument({ place: item.file, name: item.name, library, notebook });
      setAdded(items => [...items, item]);
    } catch (error) {
      setProblem(complaintOf(error));
      composer.addContext(item);
    }
  };
  const choose = (chosen: Exclude<DocumentChoice, ''>): void => {
    choice.current = chosen;
    const asked = composer.context.filter(isAsked);
    setOffered(new Map());
    if (chosen === 'library') {
      for (const item of asked) {
        composer.removeContext(item);
        void put(item, offered.get(item.file) ?? '');
      }
    }
  };
  return {
    isAsked,
    added,
    problem,
    take: ({ file, name, library }) => {
      const item: FileItem = { kind: 'file', file, name };
      setProblem('');
      if (library !== '' && choice.current === 'library') {
        void put(item, library);
        return;
      }
      composer.addContext(item);
      if (library !== '' && choice.current === '') {
        setOffered(files => new Map([...files, [file, library]]));
      }
    },
    choose,
    attachToo: () => {
      choice.current = '';
      for (const item of added) {
        composer.addContext(item);
      }
      setAdded([]);
    },
    end: () => {
      if (composer.context.some(isAsked)) {
        choice.current = 'attach';
      }
      setOffered(new Map());
      setAdded([]);
      setProblem('');
    }
  };
}

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
