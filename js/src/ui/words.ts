/** What states are called in the panel. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { RestartResult, UndoResult, VariablesOutcome } from '../chat/notebooks';
import type { ToolCard } from '../chat/types';
import type { ChatState, Mode, RunStatus } from '../wire/generated';

/** What taking back, or bringing back, did to the notebook. */
export function undoWords(
  result: UndoResult & { readonly left?: readonly string[] },
  isUndone: boolean,
  trans: TranslationBundle,
  variables: VariablesOutcome = { kind: 'kept', why: '' }
): string {
  const changed = result.changed.length;
  const kept = result.kept.length;
  const done = isUndone
    ? trans._n('Took back %1 cell.', 'Took back %1 cells.', changed)
    : trans._n('Brought back %1 cell.', 'Brought back %1 cells.', changed);
  const left = result.left?.length ?? 0;
  const words = left > 0 && changed === 0 ? [] : [done];
  if (left > 0) {
    words.push(
      trans._n(
        'Left %1 cell as the run left it: the notebook was opened after the run, and only cells that it added are known.',
        'Left %1 cells as the run left them: the notebook was opened after the run, and only cells that it added are known.',
        left
      )
    );
  }
  if (kept > 0) {
    words.push(
      trans._n(
        'Left %1 cell as it is, because you changed it.',
        'Left %1 cells as they are, because you changed them.',
        kept
      )
    );
  }
  words.push(variablesWords(variables, isUndone, trans));
  return words.filter(text => text !== '').join(' ');
}

function variablesWords(
  variables: VariablesOutcome,
  isUndone: boolean,
  trans: TranslationBundle
): string {
  switch (variables.kind) {
    case 'waiting':
      return trans.__('Bringing the variables back…');
    case 'undone':
      return variables.files?.back.length
        ? trans.__('Variables are as they were before it.')
        : trans.__('Variables are as they were before it. Files keep what was written.');
    case 'redone':
      return trans.__('Variables are as they were before you undid it.');
    case 'restarted':
      return restartWords(variables, trans);
    case 'kept':
      if (variables.canRestart === true) {
        return variables.why; // the server names what stands in the way
      }
      if (variables.why !== '') {
        return trans.__('Variables keep their values: %1', variables.why);
      }
      return isUndone ? trans.__('Variables and files keep their values.') : '';
  }
}

function restartWords({ ran, of, problem }: RestartResult, trans: TranslationBundle): string {
  if (problem !== '') {
    return trans.__(
      'The kernel was restarted. Cell %1 of the %2 that were to run again failed: %3',
      ran + 1,
      of,
      problem
    );
  }
  if (ran < of) {
    return trans.__(
      'The kernel was restarted. You stopped after %1 of the %2 cells that were to run again.',
      ran,
      of
    );
  }
  return trans._n(
    'The kernel was restarted, and %1 cell before it ran again. Files keep what was written.',
    'The kernel was restarted, and %1 cells before it ran again. Files keep what was written.',
    ran
  );
}

/** How a run stands or ended, in plain words. */
export function statusWords(status: RunStatus, trans: TranslationBundle): string {
  const words: Record<RunStatus, string> = {
    running: trans.__('Working'),
    completed: trans.__('Done'),
    'agent context limit': trans.__('Stopped: the conversation is too long for the model'),
    'agent validation failed': trans.__('Stopped: the model gave no answer that could be used'),
    'agent invalid action': trans.__('Stopped: the model kept asking for what does not exist'),
    'task limit reached': trans.__('Stopped: a limit was reached'),
    'task error': trans.__('Failed'),
    unknown: trans.__('Ended without a known reason'),
    cancelled: trans.__('Stopped')
  };
  return words[status];
}

/** Whether a run ended in a way the person should be told about. */
export function isTrouble(status: RunStatus): boolean {
  return status !== 'running' && status !== 'completed' && status !== 'cancelled';
}

/** How a call stands. */
export function cardWords(status: ToolCard['status'], trans: TranslationBundle): string {
  const words: Record<ToolCard['status'], string> = {
    waiting: trans.__('Waiting'),
    asking: trans.__('Needs your approval'),
    running: trans.__('Running'),
    ok: trans.__('Done'),
    error: trans.__('Failed'),
    refused: trans.__('Rejected'),
    cancelled: trans.__('Stopped')
  };
  return words[status];
}

/** What the chat does now; empty while it is idle. */
export function phaseWords(phase: ChatState['phase'], trans: TranslationBundle): string {
  const words: Record<ChatState['phase'], string> = {
    idle: '',
    starting: trans.__('Starting'),
    model: trans.__('Waiting for the model'),
    kernel_busy: trans.__('Waiting for the kernel, which is running something else'),
    tool: trans.__('Working in the notebook'),
    approval: trans.__('Waiting for your approval'),
    input: trans.__('Waiting for your input')
  };
  return words[phase];
}

/** What Stop stops, in this phase. */
export function stopWords(phase: ChatState['phase'], trans: TranslationBundle): string {
  return phase === 'tool' || phase === 'input'
    ? trans.__('Stop the run and interrupt its cell (Esc)')
    : trans.__('Stop the run (Esc)');
}

/** A mode's name and what it allows. */
interface ModeWords {
  readonly name: string;
  readonly description: string;
}

export function modeWords(mode: Mode, trans: TranslationBundle): ModeWords {
  const words: Record<Mode, ModeWords> = {
    plan: { name: trans.__('Plan'), description: trans.__('Only looks; changes and runs nothing') },
    ask: { name: trans.__('Ask'), description: trans.__('Asks before each change and each run') },
    edits: {
      name: trans.__('Edits'),
      description: trans.__('Changes cells; asks before it runs code')
    },
    auto: {
      name: trans.__('Auto'),
      description: trans.__('Changes cells and runs code without asking')
    }
  };
  return words[mode];
}

/** What a call does. The server's labels are in lower case; a call that waits has none yet. */
export function cardTitle(
  { label, name }: Pick<ToolCard, 'label' | 'name'>,
  trans: TranslationBundle
): string {
  const words = label === name ? (toolWords(trans)[name] ?? name.replaceAll('_', ' ')) : label;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What the agent's own tools do, by their names. */
export function toolWords(trans: TranslationBundle): Partial<Record<string, string>> {
  return {
    run_cell: trans.__('Run code'),
    add_cell: trans.__('Add a cell'),
    edit_cell: trans.__('Edit a cell'),
    arrange_cell: trans.__('Move or delete a cell'),
    read_notebook: trans.__('Read the notebook'),
    read_output: trans.__('Read an output'),
    list_variables: trans.__('List the variables'),
    inspect_variable: trans.__('Look at a variable'),
    install_package: trans.__('Install a package'),
    submit: trans.__('Hand in the answer')
  };
}

/** When a chat was last used: a time for today, else a date. */
export function formatMoment(seconds: number, now: Date = new Date()): string {
  const moment = new Date(seconds * 1000);
  const isToday = moment.toDateString() === now.toDateString();
  return isToday
    ? moment.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
    : moment.toLocaleDateString(undefined, {
        day: 'numeric',
        month: 'short',
        ...(moment.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' })
      });
}
