import type { IOutput } from '@jupyterlab/nbformat';
import { OutputArea, OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { type IRenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { ACTIVE_MATH, loadsFromElsewhere } from '../../markdown/loads';
import type { JsonObject } from '../../wire/generated';

/** Draws outputs, as nbformat has them, into an element of the page. */
export type DrawOutputs = (host: HTMLElement, outputs: readonly JsonObject[]) => IDisposable;

/**
 * Outputs as JupyterLab draws those of a notebook that nobody trusted: nothing of them runs.
 * Nor does the browser fetch anything to draw them, which JupyterLab would let it do.
 */
export function outputDrawer(registry: IRenderMimeRegistry): DrawOutputs {
  const rendermime = withoutLoads(registry);
  return (host, outputs) => {
    const model = new OutputAreaModel({ trusted: false, values: outputs as unknown as IOutput[] });
    const area = new SimplifiedOutputArea({
      model,
      rendermime,
      contentFactory: OutputArea.defaultContentFactory
    });
    Widget.attach(area, host);
    return new DisposableDelegate(() => {
      area.dispose();
      model.dispose();
    });
  };
}

/** What extensions draw (charts, maps) may fetch data and pictures: it shows as its text. */
const DRAWN = new Set([
  ...standardRendererFactories.flatMap(({ mimeTypes }) => mimeTypes),
  'application/json'
]);

function withoutLoads(registry: IRenderMimeRegistry): IRenderMimeRegistry {
  const { sanitizer, latexTypesetter, markdownParser } = registry;
  const drawing = registry.clone({
    sanitizer: new LoadSanitizer(sanitizer),
    ...(latexTypesetter !== null && {
      latexTypesetter: {
        typeset: (element: HTMLElement) =>
          ACTIVE_MATH.test(element.textContent) ? undefined : latexTypesetter.typeset(element)
      }
    }),
    ...(markdownParser !== null && {
      markdownParser: {
        render: (source: string) =>
          loadsFromElsewhere(source)
            ? Promise.resolve(asItIsWritten(source))
            : markdownParser.render(source)
      }
    })
  });
  for (const type of drawing.mimeTypes.filter(name => !DRAWN.has(name))) {
    drawing.removeMimeType(type);
  }
  return drawing;
}

function asItIsWritten(source: string): string {
  const text = document.createElement('pre');
  text.textContent = source;
  return text.outerHTML;
}

const LOADING = ['src', 'srcset', 'lowsrc', 'poster', 'background', 'data', 'href', 'xlink:href'];
/** A backslash may spell any of the others. */
const LOADING_STYLE = /(?:url|image|image-set|src)\s*\(|\\/i;

/** JupyterLab's sanitizer, whose result loads nothing but what came along with it. */
class LoadSanitizer implements IRenderMime.ISanitizer {
  constructor(sanitizer: IRenderMime.ISanitizer) {
    this._sanitizer = sanitizer;
  }

  get allowNamedProperties(): boolean {
    return this._sanitizer.allowNamedProperties ?? false;
  }

  getAutolink(): boolean {
    return this._sanitizer.getAutolink?.() ?? true;
  }

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    // What a parser of its own reads is not shown, and so loads nothing.
    const { body } = new DOMParser().parseFromString(
      this._sanitizer.sanitize(dirty, options),
      'text/html'
    );
    for (const element of body.querySelectorAll('*')) {
      for (const name of LOADING.filter(attribute => element.hasAttribute(attribute))) {
        const isLink = name === 'href' && element.matches('a, area');
        if (!isLink && !/^\s*data:/i.test(element.getAttribute(name) ?? '')) {
          element.removeAttribute(name);
        }
      }
      if (LOADING_STYLE.test(element.getAttribute('style') ?? '')) {
        element.removeAttribute('style');
      }
    }
    return body.innerHTML;
  }

  private readonly _sanitizer: IRenderMime.ISanitizer;
}
