import * as React from 'react';

import type { Suggestion } from '../models/suggestions';
import { agentIcon } from './agent_icon';
import { Icon } from './icon';
import type { Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';

interface EmptyStateProps {
  readonly panel: Panel;
  readonly onChoose: (suggestion: Suggestion) => void;
}

/** What a new chat shows: where it works and what one might ask. */
export function EmptyState({ panel, onChoose }: EmptyStateProps) {
  const trans = useTrans();
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const suggestions = useSuggestions(panel);
  const name = notebook?.path.split('/').at(-1) ?? '';
  return (
    <div className="cw-empty">
      <agentIcon.react className="cw-empty-icon" tag="span" aria-hidden="true" />
      <h3>
        {name === '' ? trans.__('What shall we do?') : trans.__('What shall we do in %1?', name)}
      </h3>
      <p className="cw-muted">
        {trans.__('The agent writes and runs cells in your notebook, in the kernel you use.')}
      </p>
      <ul className="cw-suggestions" aria-label={trans.__('Suggestions')}>
        {suggestions.map(suggestion => (
          <li key={suggestion.label}>
            <button
              type="button"
              className="cw-suggestion"
              title={suggestion.prompt}
              onClick={() => {
                onChoose(suggestion);
              }}
            >
              <Icon name="spark" />
              <span>{suggestion.label}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Made anew for each notebook; the last ones stay until then. */
function useSuggestions(panel: Panel): readonly Suggestion[] {
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const [suggestions, setSuggestions] = React.useState<readonly Suggestion[]>([]);
  React.useEffect(() => {
    let isOver = false;
    void panel.suggestions().then(found => {
      if (!isOver) {
        setSuggestions(found);
      }
    });
    return () => {
      isOver = true;
    };
  }, [panel, notebook]);
  return suggestions;
}
