/** Names a person types after `@` (assistants, variables) and `#` (cells). */
import * as React from 'react';

import type { OutlineEntry } from '../chat/notebooks';
import type { AssistantSummary } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { Icon, type IconName } from '../ui/button';
import { takeAnswer, useTrans } from '../ui/hooks';
import type { VariableSummary } from '../wire/generated';
import type { ContextItem } from '../chat/types';

const MOST_SHOWN = 50;

/** The name that is being typed. */
export interface Trigger {
  readonly sign: '@' | '#';
  readonly query: string;
  /** Nothing stands before it: an assistant may be meant. */
  readonly isFirst: boolean;
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
  const start = caret - query.length - 1;
  return { sign, query, isFirst: text.slice(0, start).trim() === '', start, end: caret };
}

/** Something that can be put in the place of a trigger. */
export interface Candidate {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: IconName;
  /** What goes along with the prompt; null: the text says it all. */
  readonly item: ContextItem | null;
  /** What then stands in the text. */
  readonly text: string;
}

/** A text in which a trigger has become a name, and where the caret is then. */
interface Completed {
  readonly text: string;
  readonly caret: number;
}

/** Put a name in the place of its trigger; what follows keeps its one space, or none. */
export function complete(text: string, trigger: Trigger, name: string): Completed {
  const before = text.slice(0, trigger.start);
  const after = text.slice(trigger.end);
  if (name === '') {
    const isDoubled = /(?:^|\s)$/u.test(before) && after.startsWith(' ');
    return { text: before + (isDoubled ? after.slice(1) : after), caret: before.length };
  }
  const put = /^[\s,.;:!?)\]]/u.test(after) ? name.trimEnd() : name;
  const step = put !== name && after.startsWith(' ') ? 1 : 0;
  return { text: before + put + after, caret: before.length + put.length + step };
}

/** Where the names come from. */
export interface NameSource {
  assistants(): Promise<readonly AssistantSummary[]>;
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
    icon: 'variable',
    item: { kind: 'variable', name },
    text: `@${name} `
  };
}

function ofAssistant({ name, description }: AssistantSummary): Candidate {
  return {
    key: `assistant:${name}`,
    label: name,
    detail: description,
    icon: 'person',
    item: null,
    text: `@${name} `
  };
}

/** An empty cell says nothing to choose it by. */
function isWritten({ label }: OutlineEntry): boolean {
  return label !== '';
}

function ofCell({ id, label, hasError, count }: OutlineEntry): Candidate {
  const item = { kind: 'cell', cell_id: id, text: label } as const;
  // The chip names the cell; its id would only be noise in the sentence.
  return {
    key: `cell:${id}`,
    label,
    detail: count === null ? '' : `[${String(count)}]`,
    icon: hasError ? 'error' : 'cell',
    item,
    text: ''
  };
}

/** Those that fit, names that begin so first. */
function rank(candidates: readonly Candidate[], query: string): readonly Candidate[] {
  const wanted = query.toLowerCase();
  const place = (candidate: Candidate): number => candidate.label.toLowerCase().indexOf(wanted);
  return candidates
    .filter(candidate => place(candidate) >= 0)
    .sort((a, b) => Math.min(place(a), 1) - Math.min(place(b), 1));
}

interface Candidates {
  readonly list: readonly Candidate[];
  readonly isLoading: boolean;
  /** Why there is no list. */
  readonly problem: string;
}

const NONE: Candidates = { list: [], isLoading: false, problem: '' };

/** What may stand in place of the trigger, assistants first; asked for once a trigger. */
export function useCandidates(trigger: Trigger | null, source: NameSource): Candidates {
  const sign = trigger?.sign;
  const assistants = useAsked(trigger?.isFirst === true && sign === '@', source, askAssistants);
  const variables = useAsked(sign === '@', source, askVariables);
  const cells = React.useMemo(
    () => (sign === '#' ? source.cells().filter(isWritten).map(ofCell) : []),
    [sign, source]
  );
  const query = trigger?.query ?? '';
  return React.useMemo(() => {
    const groups = [assistants.list, variables.list, cells];
    const list = groups.flatMap(group => rank(group, query)).slice(0, MOST_SHOWN);
    return { ...variables, list };
  }, [assistants, variables, cells, query]);
}

async function askVariables(source: NameSource): Promise<readonly Candidate[]> {
  return (await source.variables()).map(ofVariable);
}

async function askAssistants(source: NameSource): Promise<readonly Candidate[]> {
  return (await source.assistants()).map(ofAssistant);
}

/** What the source says, while it is wanted. */
function useAsked(
  isWanted: boolean,
  source: NameSource,
  ask: (source: NameSource) => Promise<readonly Candidate[]>
): Candidates {
  const [found, setFound] = React.useState<Candidates>(NONE);
  React.useEffect(() => {
    setFound(isWanted ? { ...NONE, isLoading: true } : NONE);
    if (!isWanted) {
      return;
    }
    return takeAnswer(
      ask(source),
      list => {
        setFound({ ...NONE, list });
      },
      error => {
        setFound({ ...NONE, problem: complaintOf(error) });
      }
    );
  }, [isWanted, source, ask]);
  return found;
}

const SUMMARY_AFTER_MILLISECONDS = 150;

interface CompletionListProps {
  readonly id: string;
  readonly trigger: Trigger;
  readonly candidates: Candidates;
  readonly active: number;
  readonly source: NameSource;
  readonly onActive: (index: number) => void;
  readonly onChoose: (candidate: Candidate) => void;
}

export function optionId(list: string, index: number): string {
  return `${list}-${String(index)}`;
}

/** Names to choose from, with a summary of the one in question. */
export function CompletionList(props: CompletionListProps) {
  const { id, trigger, candidates, active, source, onActive, onChoose } = props;
  const trans = useTrans();
  const chosen = candidates.list[active];
  const box = React.useRef<HTMLUListElement>(null);
  React.useEffect(() => {
    const option = box.current?.children[active];
    if (option instanceof HTMLElement) {
      keepInView(option);
    }
  }, [active]);
  return (
    <div className="cw-popup cw-completion">
      {candidates.list.length > 0 ? (
        <ul ref={box} id={id} role="listbox" aria-label={listWords(trigger, trans)}>
          {candidates.list.map((candidate, index) => (
            <li
              key={candidate.key}
              id={optionId(id, index)}
              role="option"
              aria-selected={index === active}
              className="cw-option"
              onMouseMove={() => {
                onActive(index);
              }}
              onMouseDown={event => {
                // The caret stays in the text.
                event.preventDefault();
                onChoose(candidate);
              }}
            >
              <Icon name={candidate.icon} />
              <span className="cw-option-label">{candidate.label}</span>
              {candidate.detail !== '' && (
                <span className="cw-option-detail">{candidate.detail}</span>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <p className="cw-muted cw-popup-note">{emptyWords(props, trans)}</p>
      )}
      {chosen?.item?.kind === 'variable' && (
        <CandidateSummary key={chosen.item.name} name={chosen.item.name} source={source} />
      )}
    </div>
  );
}

function listWords({ sign, isFirst }: Trigger, trans: ReturnType<typeof useTrans>): string {
  if (sign === '#') {
    return trans.__('Cells');
  }
  return isFirst ? trans.__('Assistants and variables') : trans.__('Variables');
}

function emptyWords(
  { trigger, candidates }: CompletionListProps,
  trans: ReturnType<typeof useTrans>
): string {
  if (candidates.isLoading) {
    return trans.__('Asking the kernel …');
  }
  if (candidates.problem !== '') {
    return candidates.problem;
  }
  return trigger.sign === '@' ? trans.__('No variable fits') : trans.__('No cell fits');
}

function CandidateSummary({ name, source }: { name: string; source: NameSource }) {
  const text = useSummary(name, source);
  return text === '' ? null : <pre className="cw-summary">{text}</pre>;
}

/** Scroll the list that an option stands in, and nothing around it. */
function keepInView(option: HTMLElement): void {
  const list = option.parentElement;
  if (list !== null) {
    const top = option.offsetTop - list.offsetTop;
    const lowest = top + option.offsetHeight - list.clientHeight;
    list.scrollTop = Math.min(top, Math.max(lowest, list.scrollTop));
  }
}

/** What a variable holds, asked for once it has been looked at for a moment. */
export function useSummary(name: string, source: NameSource): string {
  const [text, setText] = React.useState('');
  React.useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      source.variable(name).then(
        summary => {
          if (!isOver) {
            setText(summary);
          }
        },
        () => undefined
      );
    }, SUMMARY_AFTER_MILLISECONDS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [name, source]);
  return text;
}
