/** What things are called on the page. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Grouping, Scope } from './answers';
import type { KeepingPart } from './keeping_page';

export function partWords(part: KeepingPart, trans: TranslationBundle): string {
  const words: Record<KeepingPart, string> = {
    memory: trans.__('Memory'),
    library: trans.__('Library'),
    usage: trans.__('Usage'),
    tools: trans.__('Tools'),
    assistants: trans.__('Assistants')
  };
  return words[part];
}

export function scopeWords(scope: Scope, trans: TranslationBundle, folder = ''): string {
  if (scope === 'project' && folder !== '') {
    return trans.__('Project %1', folder);
  }
  const words: Record<Scope, string> = {
    user: trans.__('All projects'),
    project: trans.__('This project')
  };
  return words[scope];
}

export function groupingWords(by: Grouping, trans: TranslationBundle): string {
  const words: Record<Grouping, string> = {
    month: trans.__('Month'),
    model: trans.__('Model'),
    assistant: trans.__('Assistant'),
    chat: trans.__('Chat'),
    run: trans.__('Run')
  };
  return words[by];
}

/** What a row stands for that has no name of its own. */
export function namelessWords(by: Grouping, trans: TranslationBundle): string {
  const words: Record<Grouping, string> = {
    month: trans.__('Unknown'),
    model: trans.__('Unknown'),
    assistant: trans.__('No assistant'),
    chat: trans.__('No chat'),
    run: trans.__('Unknown')
  };
  return words[by];
}
