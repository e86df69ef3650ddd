import * as React from 'react';
import { flushSync } from 'react-dom';

import { Confirming } from '../pages/confirming';
import { Button, IconButton } from '../views/button';
import { useTrans } from '../views/scope';
import { formatMoment } from '../views/words';
import type { Memory } from './answers';
import type { MemoryList } from './memory_list';
import { useOpener } from '../views/opening';
import { scopeWords } from './words';

interface MemoryRowProps {
  readonly list: MemoryList;
  readonly memory: Memory;
}

/** A fact that can be changed or forgotten. */
export const MemoryRow = React.memo(function MemoryRow({ list, memory }: MemoryRowProps) {
  const trans = useTrans();
  const [state, setState] = React.useState<'shown' | 'edited' | 'forgotten'>('shown');
  const row = React.useRef<HTMLTableRowElement>(null);
  const show = (): void => {
    flushSync(() => {
      setState('shown');
    });
    row.current?.querySelector('button')?.focus();
  };
  return (
    <tr ref={row}>
      <th scope="row" className="cw-fact">
        {state === 'edited' ? (
          <EditMemory list={list} memory={memory} onDone={show} />
        ) : (
          memory.text
        )}
        {state === 'forgotten' && (
          <Confirming
            question={trans.__('Forget this for good?')}
            label={trans.__('Forget')}
            onDo={() => {
              void list.forget(memory.id);
              show();
            }}
            onKeep={show}
          />
        )}
      </th>
      <td className="cw-when">{scopeWords(memory.scope, trans, memory.folder)}</td>
      <td className="cw-when">
        <Source run={memory.source_run} />
      </td>
      <td className="cw-when">{formatMoment(memory.updated_at)}</td>
      <td className="cw-row-actions">
        <IconButton
          icon="edit"
          label={trans.__('Change "%1"', memory.text)}
          onClick={() => {
            setState('edited');
          }}
        />
        <IconButton
          icon="trash"
          label={trans.__('Forget "%1"', memory.text)}
          onClick={() => {
            setState('forgotten');
          }}
        />
      </td>
    </tr>
  );
});

/** Who said it: the person, or the agent in a run. */
export function Source({ run }: { readonly run: string }) {
  const trans = useTrans();
  const opener = useOpener();
  if (run === '') {
    return <>{trans.__('You')}</>;
  }
  const { run: open } = opener;
  return open === null ? (
    <>{trans.__('A run')}</>
  ) : (
    <button
      type="button"
      className="cw-row-link"
      onClick={() => {
        open(run);
      }}
    >
      {trans.__('A run')}
    </button>
  );
}

function EditMemory({ list, memory, onDone }: MemoryRowProps & { readonly onDone: () => void }) {
  const trans = useTrans();
  const [text, setText] = React.useState(memory.text);
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  const save = async (): Promise<void> => {
    const changed = text.trim();
    if (changed === '') {
      return;
    }
    if (changed === memory.text || (await list.change(memory.id, changed))) {
      onDone();
    }
  };
  return (
    <div className="cw-fact-edit">
      <textarea
        ref={field}
        className="cw-field"
        rows={2}
        value={text}
        aria-label={trans.__('Fact')}
        onChange={event => {
          setText(event.target.value);
        }}
        onKeyDown={event => {
          if (event.nativeEvent.isComposing) {
            return;
          }
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void save();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onDone();
          }
        }}
      />
      <div className="cw-row">
        <Button kind="primary" aria-disabled={text.trim() === ''} onClick={() => void save()}>
          {trans.__('Save')}
        </Button>
        <Button onClick={onDone}>{trans.__('Cancel')}</Button>
      </div>
    </div>
  );
}
