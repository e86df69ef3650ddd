import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { WaitingNotes } from '../chat/waiting_notes';
import type { WaitingNote } from '../client/panel_rest';
import { disconnectedProblem, type Problem } from '../client/problems';
import { Button, IconButton } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import type { Chat, Panel } from './ports';

/** The others fold. */
const SHOWN_NOTES = 3;
/** About what two lines hold. */
const SHORT_CHARACTERS = 80;
const SHORT_LINES = 2;

/** What waits in the chat that is shown. */
export function useWaitingNotes(panel: Panel, chat: Chat): WaitingNotes {
  const notes = React.useMemo(() => new WaitingNotes(panel.rest, chat), [panel, chat]);
  const id = useSignal(chat.changed, () => chat.id);
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  React.useEffect(() => {
    notes.watch();
    return () => {
      notes.unwatch();
    };
  }, [notes]);
  React.useEffect(() => {
    if (isOpen) {
      void notes.refresh();
    }
  }, [notes, id, isOpen]);
  return notes;
}

interface WaitingNotesListProps {
  readonly model: WaitingNotes;
  /** The text of a note stands in the field again. */
  readonly onBack: () => void;
}

/** What the next question takes along, above the prompts that wait. */
export function WaitingNotesList({ model, onBack }: WaitingNotesListProps) {
  const trans = useTrans();
  const titleId = React.useId();
  const notes = useSignal(model.changed, () => model.notes);
  const problem = useSignal(model.changed, () => model.problem);
  const [isUnfolded, setUnfolded] = React.useState(false);
  const folded = Math.max(0, notes.length - SHOWN_NOTES);
  return (
    <>
      {problem !== null && (
        <p className="cw-problem" role="alert">
          {problemWords(problem, trans)}
        </p>
      )}
      {notes.length > 0 && (
        <section className="cw-queue cw-notes" aria-labelledby={titleId}>
          <div className="cw-notes-head">
            <span id={titleId}>{trans.__('Goes with your next question')}</span>
            {folded > 0 && (
              <Button
                kind="quiet"
                aria-expanded={isUnfolded}
                onClick={() => {
                  setUnfolded(!isUnfolded);
                }}
              >
                {isUnfolded ? trans.__('Show less') : trans.__('%1 more', folded)}
              </Button>
            )}
          </div>
          <ol>
            {notes.slice(isUnfolded ? 0 : folded).map(note => (
              <NoteView
                key={note.id}
                note={note}
                onTakeBack={() => {
                  void model.takeBack(note).then(isBack => {
                    if (isBack) {
                      onBack();
                    }
                  });
                }}
              />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function NoteView({ note, onTakeBack }: { note: WaitingNote; onTakeBack: () => void }) {
  const trans = useTrans();
  const textId = React.useId();
  const [isOpen, setOpen] = React.useState(false);
  const role = roleWords(note.role, trans);
  const text = (
    <>
      {role !== '' && <span className="cw-note-role">{role}</span>}
      {note.text}
    </>
  );
  return (
    <li className="cw-queued">
      {isLong(note.text) ? (
        <button
          type="button"
          id={textId}
          className={`cw-note-text ${isOpen ? 'cw-mod-open' : ''}`}
          title={isOpen ? trans.__('Show less') : note.text}
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {text}
        </button>
      ) : (
        <span id={textId} className="cw-note-text">
          {text}
        </span>
      )}
      <span className="cw-queued-actions">
        <IconButton
          icon="undo"
          label={trans.__('Take back')}
          aria-describedby={textId}
          onClick={onTakeBack}
        />
      </span>
    </li>
  );
}

function isLong(text: string): boolean {
  return text.length > SHORT_CHARACTERS || text.split('\n').length > SHORT_LINES;
}

/** What it is beside a plain note; empty: it is one. */
function roleWords(role: string, trans: TranslationBundle): string {
  switch (role) {
    case 'system':
      return trans.__('Instruction');
    case 'assistant':
      return trans.__('Answer');
    default:
      return '';
  }
}

function problemWords(problem: Problem, trans: TranslationBundle): string {
  const { message, hint } = problem.code === 'network' ? disconnectedProblem(trans) : problem;
  return [message, hint].filter(Boolean).join(' ');
}

interface NoteAnnouncerProps {
  /** How many were added. */
  readonly count: number;
}

/** Says that a note was added, to those who cannot see it. */
export function NoteAnnouncer({ count }: NoteAnnouncerProps) {
  const trans = useTrans();
  return (
    <div className="cw-hidden" role="status" aria-live="polite">
      {count > 0 && <span key={count}>{trans.__('Added. It goes with your next question.')}</span>}
    </div>
  );
}
