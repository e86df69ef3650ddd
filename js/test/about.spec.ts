import type { JupyterFrontEnd } from '@jupyterlab/application';
import { ServerConnection } from '@jupyterlab/services';
import { type ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { afterEach, expect, it } from 'vitest';

import { about, AboutCommandIDs } from '../src/plugins/about';
import { PanelSettings } from '../src/settings';

/** Activate the plugin in an application whose server gives this answer. */
function commandsWithServer(
  body: string,
  status = 200,
  translator: Pick<ITranslator, 'languageCode' | 'load'> = nullTranslator
): CommandRegistry {
  const commands = new CommandRegistry();
  const serverSettings = ServerConnection.makeSettings({
    fetch: () => Promise.resolve(new Response(body, { status }))
  });
  const application = { commands, serviceManager: { serverSettings } };
  const lab = application as unknown as JupyterFrontEnd;
  void about.activate(lab, new PanelSettings(), null, translator);
  return commands;
}

function dialogText(): string {
  return document.querySelector('.jp-Dialog')?.textContent ?? '';
}

function closeDialog(): void {
  document.querySelector<HTMLButtonElement>('.jp-Dialog button')?.click();
}

afterEach(closeDialog);

it('shows the version that the server runs', async () => {
  const closed = commandsWithServer('{"version": "1.2.3"}').execute(AboutCommandIDs.about);
  await expect.poll(dialogText).toContain('cellwright 1.2.3');
  closeDialog();
  await closed;
  expect(dialogText()).toBe('');
});

it('says what to run when the server extension does not answer', async () => {
  const closed = commandsWithServer('{"message": "Not Found"}', 404).execute(AboutCommandIDs.about);
  await expect.poll(dialogText).toContain('jupyter server extension list');
  closeDialog();
  await closed;
  expect(dialogText()).toBe('');
});

it('speaks the language of JupyterLab', () => {
  const chinese = { languageCode: 'zh_CN', load: () => nullTranslator.load('cellwright') };
  const commands = commandsWithServer('{}', 200, chinese);
  expect(commands.label(AboutCommandIDs.about)).toBe('关于 cellwright');
});
