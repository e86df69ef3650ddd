import * as React from 'react';

import { Markdown } from '../markdown';
import { CodeBlock } from '../views/code_block';
import { useTrans } from '../views/scope';
import { cardTitle } from '../views/words';
import type { Step } from './trajectory';

/** One message. Only what a model wrote is Markdown; all else is shown as it is. */
export const StepView = React.memo(function StepView({ step }: { readonly step: Step }) {
  const trans = useTrans();
  const { role, text, calls, name, pictures } = step;
  const titles: Record<Step['role'], string> = {
    system: trans.__('System'),
    user: trans.__('Person'),
    assistant: trans.__('Model'),
    tool: trans.__('Result of %1', name === '' ? trans.__('a tool') : name)
  };
  const title = titles[role];
  return (
    <article className={`cw-step cw-mod-${role}`} aria-label={title}>
      <h4>{title}</h4>
      {role === 'assistant' && text !== '' && (
        <Markdown text={text} isStreaming={false} trans={trans} />
      )}
      {role === 'system' && (
        <details>
          <summary>{trans.__('Instructions')}</summary>
          <CodeBlock text={text} label={title} />
        </details>
      )}
      {(role === 'user' || role === 'tool') && text !== '' && (
        <CodeBlock text={text} label={title} />
      )}
      {pictures.map((url, place) => (
        <img key={place} src={url} alt={trans.__('A picture that the model was shown')} />
      ))}
      {calls.map((call, place) => (
        <div key={place} className="cw-step-call">
          <p className="cw-muted">{cardTitle({ name: call.name, label: call.name }, trans)}</p>
          <CodeBlock
            text={call.code === '' ? call.argumentsText : call.code}
            language={call.code === '' ? '' : 'python'}
            label={trans.__('What the model asked for')}
          />
        </div>
      ))}
    </article>
  );
});
