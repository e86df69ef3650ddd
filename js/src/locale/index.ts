import { type ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';

import { CHINESE } from './zh_CN';

/** Domain of our strings in JupyterLab's language packs. */
const DOMAIN = 'cellwright';

/** A translation for each English text; of texts with a plural, for the singular. */
type Catalogue = Readonly<Record<string, string>>;

/** Catalogues by language; such a language has one form for all numbers. */
type Catalogues = Readonly<Record<string, Catalogue>>;

/** What is there from the start; a page that is loaded later brings its own. */
const CATALOGUES: Catalogues = { zh_CN: CHINESE };

/**
 * Our words in JupyterLab's language.
 *
 * A language pack comes first; what it does not know is looked up in the catalogue shipped here,
 * and in the `more` of whoever asks.
 */
export function bundleFor(
  translator: ITranslator | null,
  more: Catalogues = {}
): TranslationBundle {
  const known = translator ?? nullTranslator;
  const pack = known.load(DOMAIN);
  const language = known.languageCode.replace('-', '_');
  const catalogue = { ...CATALOGUES[language], ...more[language] };
  const isEmpty = Object.keys(catalogue).length === 0;
  return isEmpty ? pack : new CatalogueBundle(pack, catalogue);
}

/** A language pack with a catalogue behind it. */
class CatalogueBundle implements TranslationBundle {
  constructor(
    private readonly _pack: TranslationBundle,
    private readonly _catalogue: Catalogue
  ) {}

  __(text: string, ...values: unknown[]): string {
    return this._choose(this._pack.gettext(text, ...values), text, [text], values);
  }

  _n(singular: string, plural: string, count: number, ...values: unknown[]): string {
    const found = this._pack.ngettext(singular, plural, count, ...values);
    return this._choose(found, singular, [singular, plural], [count, ...values]);
  }

  _p(context: string, text: string, ...values: unknown[]): string {
    return this._choose(this._pack.pgettext(context, text, ...values), text, [text], values);
  }

  _np(
    context: string,
    singular: string,
    plural: string,
    count: number,
    ...values: unknown[]
  ): string {
    const found = this._pack.npgettext(context, singular, plural, count, ...values);
    return this._choose(found, singular, [singular, plural], [count, ...values]);
  }

  gettext(text: string, ...values: unknown[]): string {
    return this.__(text, ...values);
  }

  ngettext(singular: string, plural: string, count: number, ...values: unknown[]): string {
    return this._n(singular, plural, count, ...values);
  }

  pgettext(context: string, text: string, ...values: unknown[]): string {
    return this._p(context, text, ...values);
  }

  npgettext(
    context: string,
    singular: string,
    plural: string,
    count: number,
    ...values: unknown[]
  ): string {
    return this._np(context, singular, plural, count, ...values);
  }

  dcnpgettext(
    _domain: string,
    context: string,
    singular: string,
    plural: string,
    ...values: [count: number, ...rest: unknown[]]
  ): string {
    return this._np(context, singular, plural, ...values);
  }

  /** The pack's words, unless they are still the English ones. */
  private _choose(
    found: string,
    key: string,
    english: readonly string[],
    values: readonly unknown[]
  ): string {
    const isTranslated = !english.some(text => format(text, values) === found);
    const ours = this._catalogue[key];
    return isTranslated || ours === undefined ? found : format(ours, values);
  }
}

/** Put values in the place of `%1`, `%2` …; `%%` is a percent sign. */
function format(text: string, values: readonly unknown[]): string {
  return text.replace(/%(%|\d+)/g, (_, place: string) =>
    place === '%' ? '%' : String(values[Number(place) - 1])
  );
}
