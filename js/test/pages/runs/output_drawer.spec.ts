import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { outputDrawer } from '../../../src/pages/runs/output_drawer';

const FAR = 'https://elsewhere.example/x';
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

let host: HTMLElement;

beforeEach(() => {
  host = document.createElement('div');
  document.body.append(host);
});

afterEach(() => {
  host.remove();
});

/** Draws a chart by fetching its data, as some extensions do. */
class Chart extends Widget implements IRenderMime.IRenderer {
  renderModel(): Promise<void> {
    this.node.innerHTML = `<img src="${FAR}">`;
    return Promise.resolve();
  }
}

async function draw(data: Record<string, unknown>, words: string): Promise<string> {
  const rendermime = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    markdownParser: { render: source => Promise.resolve(`<p>${source}</p>`) },
    latexTypesetter: {
      typeset: element => {
        if (element.textContent.includes('$')) {
          element.innerHTML = `<i style="background: url(${FAR})">typeset</i>`;
        }
      }
    }
  });
  rendermime.addFactory({
    safe: true,
    mimeTypes: ['application/vnd.chart+json'],
    defaultRank: 1,
    createRenderer: () => new Chart()
  });
  outputDrawer(rendermime)(host, [
    { output_type: 'display_data', data: data as never, metadata: {} }
  ]);
  await vi.waitFor(() => {
    expect(host.textContent).toContain(words);
  });
  return host.innerHTML;
}

describe('a recorded output', () => {
  it.each([
    `<img src="${FAR}">`,
    '<img src="//elsewhere.example/x">',
    '<img src="/logout">',
    `<video src="${FAR}" poster="${FAR}"></video>`,
    `<audio src="${FAR}" autoplay></audio>`,
    `<input type="image" src="${FAR}">`,
    `<div style="background-image: url(${FAR})"></div>`,
    `<div style="background: u\\72l(${FAR})"></div>`,
    `<table background="${FAR}"><tr><td background="${FAR}">1</td></tr></table>`,
    `<link rel="stylesheet" href="${FAR}">`,
    `<style>@import "${FAR}";</style>`,
    `<svg><image href="${FAR}"/></svg>`,
    `<iframe src="${FAR}"></iframe>`,
    `<img srcset="${FAR} 2x">`
  ])('loads nothing from elsewhere: %s', async html => {
    const drawn = await draw({ 'text/html': `<p>words</p>${html}` }, 'words');
    expect(drawn).not.toMatch(/elsewhere|logout/);
  });

  it('shows the pictures and links that came with it', async () => {
    const html = `<a href="${FAR}">words</a><img src="${PICTURE}"><b style="color: red">1</b>`;
    const drawn = await draw({ 'text/html': html }, 'words');
    expect([FAR, PICTURE, 'color'].filter(part => !drawn.includes(part))).toEqual([]);
  });

  it('is shown as it is written where its Markdown would load something', async () => {
    const drawn = await draw({ 'text/markdown': `words ![x](${FAR})` }, 'words');
    expect(drawn).toContain(`<pre>words ![x](${FAR})</pre>`);
  });

  it('is shown as it is written where its formula carries a style', async () => {
    const drawn = await draw({ 'text/latex': `$\\style{background: url(${FAR})}{x}$` }, 'style');
    expect(drawn).not.toContain('typeset');
    await draw({ 'text/latex': '$x$' }, 'typeset');
  });

  it('that an extension would draw with data of its own is shown as its text', async () => {
    const data = { 'application/vnd.chart+json': { url: FAR }, 'text/plain': 'words' };
    expect(await draw(data, 'words')).not.toContain('elsewhere');
  });
});
