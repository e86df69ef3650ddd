import * as React from 'react';

import type { KeptTool } from '../../client/keeping_rest';
import { Icon } from '../../ui/button';
import { useSignal, useTrans } from '../../ui/hooks';
import { Empty, Head } from '../table';
import type { ToolList } from './kept_lists';
import { PartView } from './part_view';

/** Tools that were added to the agent's own. */
export function ToolsView({ list }: { readonly list: ToolList }) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { tools } = state;
  return (
    <PartView
      state={state}
      lead={trans.__(
        "Tools that were added to the agent's own, from functions, MCP servers and HTTP services."
      )}
    >
      {tools.length > 0 && (
        <table className="cw-table">
          <Head
            columns={[
              { key: 'name', label: trans.__('Tool') },
              { key: 'description', label: trans.__('What it does') },
              { key: 'kind', label: trans.__('Kind') },
              { key: 'source', label: trans.__('From') },
              { key: 'state', label: trans.__('State') }
            ]}
          />
          <tbody>
            {tools.map(tool => (
              <ToolRow key={`${tool.source}/${tool.name}`} tool={tool} />
            ))}
          </tbody>
        </table>
      )}
      {tools.length === 0 && (
        <Empty state={state}>
          {trans.__('No tool was added. "%agent tool connect" adds some.')}
        </Empty>
      )}
    </PartView>
  );
}

function ToolRow({ tool }: { readonly tool: KeptTool }) {
  const trans = useTrans();
  const { name, kind, source, description, enabled, problem } = tool;
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td className="cw-why">{description}</td>
      <td>{kindWords(kind)}</td>
      <td className="cw-why">{source}</td>
      <td>
        {problem === '' ? (
          <span className={enabled ? '' : 'cw-muted'}>
            {enabled ? trans.__('On') : trans.__('Off')}
          </span>
        ) : (
          <span className="cw-kept-problem">
            <Icon name="warning" />
            {problem}
          </span>
        )}
      </td>
    </tr>
  );
}

/** Names of products, so not translated; a kind that is not known is shown as it is. */
function kindWords(kind: string): string {
  const names: Partial<Record<string, string>> = {
    python: 'Python',
    mcp: 'MCP',
    http: 'HTTP',
    openapi: 'OpenAPI'
  };
  return names[kind] ?? kind;
}
