/** Names a person types after `@` (variables) and `#` (cells). */
import * as React from 'react';

import type { VariableSummary } from '../events';
import type { OutlineEntry } from '../models/notebooks';
import type { ContextItem } from '../server/frames';

const MOST_SHOWN = 50;

/** The name that is being typed. */
export interface Trigger {
  readonly sign: '@' | '#';
  readonly query: string;
  /** Where the sign stands. */
  readonly start: number;
  readonly end: number;
}

/** The name being typed right before the caret; null: none is. */
export function findTrigger(text: string, caret: number): Trigger | null {
  const match = /(?:^|[\s(])([@#])([^\s@#]*)$/u.exec(text.slice(0, caret));
  const sign = match?.[1];
  const query = match?.[2];
  if ((sign !== '@' && sign !== '#') || query === undefined) {
    return null;
  }
  return { sign, query, start: caret - query.length - 1, end: caret };
}

/** Something that can be put in the place of a trigger. */
export interface Candidate {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  readonly hasError: boolean;
  readonly item: ContextItem;
  /** What then stands in the text. */
  readonly text: string;
}

/** Where the names come from. */
export interface NameSource {
  variables(): Promise<readonly VariableSummary[]>;
  /** What a variable holds, in a few lines. */
  variable(name: string): Promise<string>;
  cells(): readonly OutlineEntry[];
}

function ofVariable({ name, type, text }: VariableSummary): Candidate {
  return {
    key: `variable:${name}`,
    label: name,
    detail: text === '' ? type : `${type} · ${text}`,
    hasError: false,
    item: { kind: 'variable', name },
    text: `@${name} `
  };
}

function ofCell({ id, label, hasError }: OutlineEntry): Candidate {
  const item = { kind: 'cell', cell_id: id, text: label } as const;
  // The chip names the cell; its id would only be noise in the sentence.
  return { key: `cell:${id}`, label, detail: '', hasError, item, text: '' };
}

/** Those that fit, names that begin so first. */
export function rank(candidates: readonly Candidate[], query: string): readonly Candidate[] {
  const wanted = query.toLowerCase();
  const place = (candidate: Candidate): number => candidate.label.toLowerCase().indexOf(wanted);
  return candidates
    .filter(candidate => place(candidate) >= 0)
    .sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1))
    .slice(0, MOST_SHOWN);
}

export interface Candidates {
  readonly list: readonly Candidate[];
  readonly isLoading: boolean;
  /** Why there is no list. */
  readonly problem: string;
}

const NONE: Candidates = { list: [], isLoading: false, problem: '' };

/** What may stand in place of the trigger; variables are asked of the kernel once a trigger. */
export function useCandidates(trigger: Trigger | null, source: NameSource): Candidates {
  const [all, setAll] = React.useState<Candidates>(NONE);
  const sign = trigger?.sign;
  React.useEffect(() => {
    if (sign === undefined) {
      setAll(NONE);
      return;
    }
    if (sign === '#') {
      setAll({ ...NONE, list: source.cells().map(ofCell) });
      return;
    }
    let isOver = false;
    setAll({ ...NONE, isLoading: true });
    source.variables().then(
      variables => {
        if (!isOver) {
          setAll({ ...NONE, list: variables.map(ofVariable) });
        }
      },
      (error: unknown) => {
        if (!isOver) {
          setAll({ ...NONE, problem: error instanceof Error ? error.message : String(error) });
        }
      }
    );
    return () => {
      isOver = true;
    };
  }, [sign, source]);
  const query = trigger?.query ?? '';
  return React.useMemo(() => ({ ...all, list: rank(all.list, query) }), [all, query]);
}
