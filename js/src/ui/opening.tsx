/** Opens what the page speaks of elsewhere in the window. */
import * as React from 'react';

import type { ISignal } from '@lumino/signaling';

import { safeLink, saysHost } from '../markdown/links';
import { Button, LinkButton } from './button';
import { useTrans } from './hooks';

// Where assistants are written, for those who show them.

/** What became of an assistant; both empty: somebody else changed the files. */
export interface AssistantChange {
  /** What it was called; empty: it is new. */
  readonly from: string;
  /** What it is called now; empty: it was deleted. */
  readonly to: string;
}

export interface AssistantEditor {
  /** One was written, changed or deleted there. */
  readonly changed: ISignal<unknown, AssistantChange>;
  /** Show those of a notebook by its path; empty: none. */
  readonly list: (notebook: string) => void;
  /**
   * Open one.
   *
   * @param name - Which one; empty: a new one.
   * @param notebook - Path of the notebook whose assistants are meant; empty: none.
   */
  readonly edit: (name: string, notebook: string) => void;
}

const EditorContext = React.createContext<AssistantEditor | null>(null);

export const AssistantEditorProvider = EditorContext.Provider;

/** Null: there is no page for them here. */
export function useAssistantEditor(): AssistantEditor | null {
  return React.useContext(EditorContext);
}

export interface Opener {
  /** Show a recorded run; null: there is no page of runs here. */
  readonly run: ((run: string) => void) | null;
  /** Open a file or a cell of a notebook; null: it cannot be opened from here. */
  readonly place: (place: string, anchor?: string) => (() => void) | null;
}

const NOTHING: Opener = { run: null, place: () => null };

const OpenerContext = React.createContext<Opener>(NOTHING);

export const OpenerProvider = OpenerContext.Provider;

export function useOpener(): Opener {
  return React.useContext(OpenerContext);
}

/** Opens the notebook of a chat; nothing where it cannot be opened from here. */
export function OpenNotebookButton({ path }: { path: string }) {
  const trans = useTrans();
  const open = useOpener().place(path);
  return (
    open !== null && (
      <Button kind="primary" onClick={open}>
        {trans.__('Open notebook')}
      </Button>
    )
  );
}

interface PlaceLinkProps {
  readonly place: string;
  /** Where in it, such as `cell 3f2a`. */
  readonly anchor?: string;
  readonly children: string;
}

/** The name of a place; leads there where it can be opened. */
export function PlaceLink({ place, anchor = '', children }: PlaceLinkProps) {
  const opener = useOpener();
  if (/^https?:/iu.test(place)) {
    return <WebLink address={place} name={children} />;
  }
  const open = opener.place(place, anchor);
  return open === null ? (
    <span title={place}>{children}</span>
  ) : (
    <LinkButton title={place} onClick={open}>
      {children}
    </LinkButton>
  );
}

/** An address on the web, with the host that it leads to. */
export function WebLink({ address, name }: { readonly address: string; readonly name: string }) {
  const link = safeLink(address);
  if (link === null) {
    return <span>{name}</span>;
  }
  return (
    <>
      <a className="cw-md-link" href={link.href} target="_blank" rel="noopener noreferrer">
        {name || link.host}
      </a>
      {!saysHost(name || link.host, link.host) && (
        <span className="cw-md-host">{` (${link.host})`}</span>
      )}
    </>
  );
}
