import * as React from 'react';

import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Highlight, HighlightContext, Markdown } from '../../src/markdown';
import DocumentView from '../../src/markdown/document_view';
import { loadTypesetter } from '../../src/markdown/typesetting';
import { draw, html, offTheList, trans } from './drawing';
import { SAMPLE } from './growing';

beforeAll(loadTypesetter);

/** Colours every word. */
const inColour: Highlight = (code, language, element) => {
  for (const part of code.split(/(\w+)/)) {
    const span = document.createElement('span');
    span.className = `tok-${language}`;
    span.textContent = part;
    element.append(/\w/.test(part) ? span : part);
  }
  return Promise.resolve();
};

describe('what Markdown is for', () => {
  it.each([
    ['# A\n\n#### B', '<h3>A</h3><h6>B</h6>'],
    ['**b** *i* ~~s~~ `c`', '<p><strong>b</strong> <em>i</em> <del>s</del> <code>c</code></p>'],
    ['a  \nb\\\nc', '<p>a<br>b<br>c</p>'],
    ['- a\n  1. b\n- c', '<ul><li>a<ol start="1"><li>b</li></ol></li><li>c</li></ul>'],
    ['3. a\n\n4. b', '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'],
    ['> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
    ['a\n\n---', '<p>a</p><hr>'],
    ['&lt;b&gt; &amp;amp; &#35; &copy; &unknown;', '<p>&lt;b&gt; &amp;amp; # © &amp;unknown;</p>'],
    ['&frac34; &NewLine;&Tab;a &copyright; &semi;', '<p>\u00be \n\ta &amp;copyright; ;</p>'],
    ['1\\. \\* `a*b`', '<p>1. * <code>a*b</code></p>'],
    ['snake_case_name 2 * 3 * 4', '<p>snake_case_name 2 * 3 * 4</p>'],
    ['&#0; &#xd800; &#x110000;', '<p>\ufffd \ufffd \ufffd</p>']
  ])('%j is drawn as %s', (text, expected) => {
    expect(html(text)).toBe(expected);
  });

  it('draws tables with their alignment, in a box of their own', () => {
    const root = draw('| a | b | c |\n|:--|--:|:-:|\n| 1 | **2** |');
    expect(root.querySelector('.cw-md-table table')).not.toBeNull();
    expect(Array.from(root.querySelectorAll('th'), cell => cell.className)).toEqual([
      'cw-md-left',
      'cw-md-right',
      'cw-md-center'
    ]);
    expect(Array.from(root.querySelectorAll('td'), cell => cell.textContent)).toEqual([
      '1',
      '2',
      ''
    ]);
  });

  it.each(['- [ ] a\n- [x] **b**', '- [ ] a\n\n- [x] **b**'])('draws the tasks of %j', text => {
    const root = draw(text);
    const boxes = Array.from(root.querySelectorAll('input'));
    expect(boxes.map(box => [box.checked, box.disabled])).toEqual([
      [false, true],
      [true, true]
    ]);
    expect(Array.from(root.querySelectorAll('li'), item => item.textContent)).toEqual(['a', 'b']);
  });

  it('draws a task that has no text yet', () => {
    expect(draw('- [ ] a\n\n- [x] ').querySelectorAll('li')).toHaveLength(2);
  });

  it('ends nesting that leads nowhere', () => {
    const root = draw(`${'>'.repeat(3000)} a`);
    expect(root.querySelectorAll('blockquote')).toHaveLength(8);
    expect(draw(`${'**_'.repeat(300)}a${'_**'.repeat(300)}`).textContent).toContain('a');
  });

  it('shows a block that is too long as plain text', async () => {
    const root = draw('**a** '.repeat(10_000));
    const plain = (): string => root.querySelector('.cw-md-plain')?.textContent ?? '';
    await expect.poll(plain, { timeout: 10_000 }).toContain('**a** **a**');
    expect(root.querySelector('strong')).toBeNull();
  }, 20_000);
});

describe('a long text', () => {
  it('appears bit by bit, and as a whole in the end', async () => {
    const text = 'word **bold** and more\n\n'.repeat(1000);
    const root = draw(text);
    const first = root.querySelectorAll('p').length;
    expect(first).toBeGreaterThan(100);
    expect(first).toBeLessThan(500);
    await expect.poll(() => root.querySelectorAll('p').length, { timeout: 20_000 }).toBe(1000);
  }, 30_000);
});

describe('a code block', () => {
  const CODE = '```python\nx = 1\n```\n';

  it('tells its language and can be copied', async () => {
    const copied: string[] = [];
    Object.assign(navigator, { clipboard: { writeText: (text: string) => copied.push(text) } });
    draw(CODE);
    expect(screen.getByText('python').className).toBe('cw-md-language');
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    expect(copied).toEqual(['x = 1']);
    await screen.findByRole('button', { name: 'Copied' });
    await screen.findByRole('button', { name: 'Copy' }, { timeout: 3000 });
  });

  it('says so when it cannot be copied', async () => {
    Object.assign(navigator, { clipboard: { writeText: () => Promise.reject(new Error('no')) } });
    draw(CODE);
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await screen.findByRole('button', { name: 'Could not copy' });
  });

  it('is copied on a page without TLS too', async () => {
    const copied: string[] = [];
    const execCommand = (): boolean => {
      const event = new Event('copy', { cancelable: true });
      const clipboardData = { setData: (_type: string, text: string) => copied.push(text) };
      document.dispatchEvent(Object.assign(event, { clipboardData }));
      return event.defaultPrevented;
    };
    Object.assign(navigator, { clipboard: undefined });
    Object.assign(document, { execCommand });
    draw(CODE);
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await screen.findByRole('button', { name: 'Copied' });
    expect(copied).toEqual(['x = 1']);
    Object.assign(document, { execCommand: () => false });
    draw(CODE);
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await screen.findByRole('button', { name: 'Could not copy' });
  });

  it('has no buttons while more of it comes', () => {
    draw('```python\nx = 1', { isStreaming: true });
    expect(screen.queryByRole('button')).toBeNull();
  });

  it.each([
    ['```mermaid\ngraph TD;\n```', 'mermaid'],
    ['```{.python .x}\n1\n```', 'python'],
    ['```<img>\n1\n```', ''],
    ['    indented', '']
  ])('%j is called %j', (text, expected) => {
    expect(draw(text).querySelector('.cw-md-language')?.textContent).toBe(expected);
  });

  it('is laid out in parts when it is long', () => {
    const code = Array.from({ length: 120 }, (_, index) => `line ${String(index)}`).join('\n');
    const root = draw(`\`\`\`\n${code}\n\`\`\``);
    expect(root.querySelectorAll('.cw-md-lines')).toHaveLength(3);
    expect(root.querySelector('pre')?.textContent).toBe(code);
  });

  it('is coloured by the editor of the page', async () => {
    const root = draw(CODE, { highlight: inColour });
    await waitFor(() => {
      expect(root.querySelectorAll('.tok-python')).toHaveLength(2);
    });
    expect(root.querySelector('pre')?.textContent).toBe('x = 1');
  });

  it('is coloured by what the context has', async () => {
    const { container } = render(
      <HighlightContext.Provider value={inColour}>
        <Markdown text={CODE} isStreaming={false} trans={trans} />
      </HighlightContext.Provider>
    );
    await waitFor(() => {
      expect(container.querySelectorAll('.tok-python')).toHaveLength(2);
    });
  });

  it('stays plain while more of it comes', async () => {
    const asked: string[] = [];
    const highlight: Highlight = (code, language, element) => {
      asked.push(code);
      return inColour(code, language, element);
    };
    const view = (text: string, isStreaming: boolean): React.ReactElement => (
      <DocumentView text={text} isStreaming={isStreaming} trans={trans} highlight={highlight} />
    );
    const { rerender, container } = render(view('```python\nx', true));
    for (const text of ['```python\nx =', '```python\nx = 1', '```python\nx = 1\n``']) {
      rerender(view(text, true));
      await act(() => new Promise(resolve => setTimeout(resolve, 5)));
    }
    expect(asked).toEqual([]);
    rerender(view('```python\nx = 1\n```\n\nmore', true));
    await waitFor(() => {
      expect(container.querySelectorAll('.tok-python')).toHaveLength(2);
    });
    rerender(view('```python\nx = 1\n```\n\nmore and more', true));
    rerender(view('```python\nx = 1\n```\n\nmore and more', false));
    expect(asked).toEqual(['x = 1']);
  });

  it.each<[string, Highlight]>([
    ['fails', () => Promise.reject(new Error('no such language'))],
    [
      'changes the code',
      (_code, _language, element) => {
        element.append('other');
        return Promise.resolve();
      }
    ]
  ])('stays plain when what colours it %s', async (_how, highlight) => {
    const root = draw(CODE, { highlight });
    await act(() => new Promise(resolve => setTimeout(resolve, 20)));
    expect(root.querySelector('pre')?.textContent).toBe('x = 1');
  });

  it('takes only text and classes from what colours it', async () => {
    const root = draw(CODE, {
      highlight: (code, _language, element) => {
        const span = document.createElement('span');
        span.className = 'cw-md-token';
        span.id = 'x';
        span.append(document.createElement('img'), code);
        element.append(span);
        return Promise.resolve();
      }
    });
    await waitFor(() => {
      expect(root.querySelector('.cw-md-token')).not.toBeNull();
    });
    expect(offTheList(root)).toEqual([]);
  });
});

describe('a formula', () => {
  const math = (text: string): Element | null => draw(text).querySelector('math');

  it.each(['$x^2$', '\\(x^2\\)', '$$x^2$$', '\\[x^2\\]', '$$\nx^2\n$$', 'a\n\\[\nx^2\n\\]\nb'])(
    '%j is typeset',
    text => {
      const found = math(text);
      expect(found?.querySelector('msup')?.textContent).toBe('x2');
      expect(found?.querySelector('annotation')).toBeNull();
    }
  );

  it('with lines of its own stands alone', () => {
    expect(draw('$$\nx\n$$').querySelector('.cw-md-formula > .cw-md-display')).not.toBeNull();
    expect(math('$$x$$')?.getAttribute('display')).toBe('block');
    expect(draw('a $x$').querySelector('.cw-md-display')).toBeNull();
  });

  it.each(['$5 and $6', 'costs $5-$6', '`$x$`', '```\n$x$\n```', '\\$x\\$', '$ x$', '$$\n\nx\n$$'])(
    '%j is none',
    text => {
      expect(math(text)).toBeNull();
    }
  );

  it('may hold signs that mark emphasis', () => {
    const root = draw('*a* $x_1 * y_1 * z$ _b_ and **bold $a*b$ end**');
    expect(root.querySelectorAll('math')).toHaveLength(2);
    expect(root.querySelectorAll('em')).toHaveLength(2);
    expect(root.querySelector('strong math')).not.toBeNull();
  });

  it.each([
    ['\\mathbb{R}', 'ℝ'],
    ['\\mathcal{L}', 'ℒ'],
    ['\\mathbf{x1}', '𝐱𝟏'],
    ['\\mathfrak{g}', '𝔤'],
    ['\\mathsf{A}', '𝖠'],
    ['\\mathtt{0}', '𝟶']
  ])('%s is drawn as %s, which browsers know', (tex, expected) => {
    expect(math(`$${tex}$`)?.textContent).toBe(expected);
  });

  it('that is no good TeX is shown as it was written', () => {
    expect(draw('$\\frac{$').querySelector('math')).toBeNull();
    expect(draw('a $\\frac{x}$ b').textContent).toBe('a \\frac{x} b');
    expect(draw(`$${'x'.repeat(1900)}{$`).textContent).toContain('xxx');
  });

  it('that goes round in circles ends', () => {
    const root = draw('$\\def\\a{\\a\\a}\\a$');
    expect(root.textContent).toContain('\\def');
    expect(offTheList(root)).toEqual([]);
  });

  it('defines nothing for another one', () => {
    draw('$\\gdef\\mine{y}\\mine$');
    expect(math('$\\mine$')?.textContent).not.toBe('y');
  });

  it('reaches not far back over what stands before it', () => {
    const widths = Array.from(draw('$a\\kern-500em b$').querySelectorAll('mspace'), space =>
      space.getAttribute('width')
    );
    expect(widths).toEqual([null]);
  });
});

describe('Markdown', () => {
  afterEach(() => {
    document.body.replaceChildren();
  });

  it('shows the text until what draws it is loaded', async () => {
    const { container } = render(<Markdown text="**bold**" isStreaming={false} trans={trans} />);
    expect(container.textContent).toMatch(/bold/);
    await waitFor(() => {
      expect(container.querySelector('strong')?.textContent).toBe('bold');
    });
  });

  it('draws a text with one of each thing', async () => {
    const { container } = render(<Markdown text={SAMPLE} isStreaming={false} trans={trans} />);
    await waitFor(() => {
      expect(container.querySelectorAll('math')).toHaveLength(4);
    });
    expect(offTheList(container)).toEqual([]);
  });
});
