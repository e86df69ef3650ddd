import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { KeptTool, SignIn } from '../../client/keeping_rest';
import { Button, Icon } from '../../ui/button';
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
      <SignIns list={list} signIns={state.signIns} />
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

interface SignInsProps {
  readonly list: ToolList;
  readonly signIns: readonly SignIn[];
}

/** The servers that want the person to sign in; only a click of theirs opens a page. */
function SignIns({ list, signIns }: SignInsProps) {
  const trans = useTrans();
  if (signIns.length === 0) {
    return null;
  }
  return (
    <ul className="cw-sign-ins" aria-label={trans.__('Sign-ins')}>
      {signIns.map(signIn => (
        <li key={signIn.name} className="cw-sign-in">
          <Icon name="key" />
          <span className="cw-sign-in-words">
            <strong>{signIn.name}</strong> <span className="cw-muted">{signIn.host}</span>{' '}
            {signInWords(signIn, trans)}
            {signIn.problem !== '' && (
              <span className="cw-kept-problem">
                <Icon name="warning" />
                {signIn.problem}
              </span>
            )}
          </span>
          <SignInActions list={list} of={signIn} />
        </li>
      ))}
    </ul>
  );
}

function SignInActions({ list, of }: { readonly list: ToolList; readonly of: SignIn }) {
  const trans = useTrans();
  const { name, state, page } = of;
  if (state === 'waiting') {
    return (
      <a
        className="cw-button cw-sign-in-link"
        href={page}
        target="_blank"
        rel="noopener noreferrer"
      >
        {trans.__('Open %1 to sign in', new URL(page).host)}
      </a>
    );
  }
  const signIn = (label: string) => <Button onClick={() => void list.signIn(name)}>{label}</Button>;
  return state === 'done' ? (
    <>
      {signIn(trans.__('Sign in again'))}
      <Button onClick={() => void list.signOut(name)}>{trans.__('Sign out')}</Button>
    </>
  ) : (
    signIn(trans.__('Sign in'))
  );
}

function signInWords({ state }: SignIn, trans: TranslationBundle): string {
  const words: Record<SignIn['state'], string> = {
    offered: trans.__('You can sign in, if it wants that.'),
    wanted: trans.__('wants you to sign in.'),
    waiting: trans.__('waits for you to sign in. Look at the host before you type a password.'),
    done: trans.__('You are signed in.')
  };
  return words[state];
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
