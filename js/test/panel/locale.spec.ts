import { type ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { expect, it } from 'vitest';

import { bundleFor } from '../../src/locale';
import { KEEPING_CHINESE } from '../../src/locale/keeping_zh_CN';
import { PAGES_CHINESE } from '../../src/locale/pages_zh_CN';
import { RUNS_PAGE_CHINESE } from '../../src/locale/runs_page_zh_CN';
import { CHINESE as PANEL_CHINESE } from '../../src/locale/zh_CN';
import { stringsIn } from './strings';

const SOURCES: Record<string, string> = import.meta.glob('../../src/**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true
});

/** The English texts of each file. */
const SAID = Object.entries(SOURCES).map(([path, source]) => ({ path, said: stringsIn(source) }));

const CHINESE = {
  ...PANEL_CHINESE,
  ...PAGES_CHINESE,
  ...RUNS_PAGE_CHINESE,
  ...KEEPING_CHINESE
};

/** A translator of this language with a pack that knows these words. */
function translator(languageCode: string, words: Record<string, string> = {}): ITranslator {
  const trans = nullTranslator.load('cellwright');
  const say = (text: string, ...values: unknown[]): string =>
    // eslint-disable-next-line jupyter/no-dynamic-translation
    trans.gettext(words[text] ?? text, ...values);
  const pack = Object.assign(Object.create(trans) as TranslationBundle, { __: say, gettext: say });
  return { languageCode, load: () => pack };
}

it('has a Chinese text for everything that the sources say', () => {
  const said = SAID.flatMap(file => file.said);
  expect(said.length).toBeGreaterThan(200);
  expect([...new Set(said)].filter(text => !(text in CHINESE))).toEqual([]);
});

it.each([
  ['runs', RUNS_PAGE_CHINESE],
  ['keeping', KEEPING_CHINESE]
])('loads the texts of the page in %s together with it', (folder, own) => {
  const loaded = { ...PANEL_CHINESE, ...PAGES_CHINESE, ...own };
  const isOfPage = new RegExp(`/src/pages/(${folder}/)?[^/]+$`);
  const said = SAID.filter(({ path }) => isOfPage.test(path)).flatMap(file => file.said);
  expect(said.length).toBeGreaterThan(50);
  expect([...new Set(said)].filter(text => !(text in loaded))).toEqual([]);
});

it('keeps no Chinese text that nothing says any more', () => {
  const said = new Set(SAID.flatMap(file => file.said));
  expect(Object.keys(CHINESE).filter(text => !said.has(text))).toEqual([]);
});

it('names the same values in Chinese as in English', () => {
  const places = (text: string): string[] => [...new Set(text.match(/%\d/g))].sort();
  for (const [english, chinese] of Object.entries(CHINESE)) {
    expect(places(chinese), english).toEqual(places(english));
  }
});

it('speaks Chinese where JupyterLab does and the language pack does not know us', () => {
  const trans = bundleFor(translator('zh_CN'));
  expect(trans.__('Send')).toBe('发送');
  expect(trans.__('Context: %1% full', 43)).toBe('上下文：已用 43%');
  expect(trans._n('%1 step', '%1 steps', 1)).toBe('1 步');
  expect(trans._n('%1 step', '%1 steps', 3)).toBe('3 步');
  expect(trans._p('a button', 'Send')).toBe('发送');
  expect(trans._np('a button', '%1 step', '%1 steps', 2)).toBe('2 步');
  expect(bundleFor(translator('zh-CN')).gettext('Stop')).toBe('停止');
});

it('lets a language pack say it in its own words', () => {
  const trans = bundleFor(translator('zh_CN', { Send: '送出' }));
  expect(trans.__('Send')).toBe('送出');
  expect(trans.__('Stop')).toBe('停止');
});

it('leaves other languages to their packs', () => {
  expect(bundleFor(translator('fr_FR', { Send: 'Envoyer' })).__('Send')).toBe('Envoyer');
  expect(bundleFor(null).__('Send')).toBe('Send');
});

it('speaks the words of a page that brings its own', () => {
  const trans = bundleFor(translator('zh_CN'), { zh_CN: { 'Something new': '新的' } });
  expect(trans.__('Something new')).toBe('新的');
  expect(trans.__('Send')).toBe('发送');
  const french = bundleFor(translator('fr_FR'), { zh_CN: { 'Something new': '新的' } });
  expect(french.__('Something new')).toBe('Something new');
});

it('leaves a text that nobody translated in English', () => {
  expect(bundleFor(translator('zh_CN')).__('Something new: %1', 'x')).toBe('Something new: x');
});
