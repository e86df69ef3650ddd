import * as React from 'react';

import type { Candidate, Candidates, NameSource, Trigger } from './completion';
import { Icon } from './icon';
import { useTrans } from './scope';

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
