import { waitFor } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';

import { loadTypesetter } from '../../src/markdown/typesetting';
import { pick, seeded } from './chance';
import { draw, offTheList, PNG } from './drawing';
import { FRAGMENTS, PAYLOADS } from './payloads';

beforeAll(loadTypesetter);

it.each(PAYLOADS)('leaves nothing of %j that loads or runs', payload => {
  const places = [
    payload,
    `before ${payload} after`,
    `- ${payload}`,
    `> ${payload}`,
    `| a |\n|---|\n| ${payload} |`,
    `**${payload}**`
  ];
  for (const text of places) {
    expect(offTheList(draw(text)), text).toEqual([]);
    expect(offTheList(draw(text, { isStreaming: true })), text).toEqual([]);
  }
});

it('draws nothing off the list for whatever mixture of markup', { timeout: 60_000 }, () => {
  const random = seeded(4);
  for (let round = 0; round < 600; round += 1) {
    const length = Math.floor(random() * 25);
    const text = Array.from({ length }, () => pick(random, FRAGMENTS)).join('');
    const bad = offTheList(draw(text, { isStreaming: random() < 0.5 }));
    expect(bad, JSON.stringify(text)).toEqual([]);
  }
});

it('draws any characters at all', () => {
  const random = seeded(5);
  for (let round = 0; round < 300; round += 1) {
    const codes = Array.from({ length: 60 }, () => Math.floor(random() ** 4 * 0x10000));
    expect(offTheList(draw(String.fromCharCode(...codes)))).toEqual([]);
  }
});

describe('HTML', () => {
  it('is shown as text', () => {
    const root = draw('a <b onclick="x()">bold</b> <!-- c --> <script>alert(1)</script>');
    expect(root.textContent).toBe(
      'a <b onclick="x()">bold</b> <!-- c --> <script>alert(1)</script>'
    );
    expect(root.querySelector('b, script')).toBeNull();
  });

  it('breaks a line, and does no more', () => {
    expect(draw('a<br>b<br/>c<br onclick=x>d').innerHTML).toBe(
      '<p>a<br>b<br>c&lt;br onclick=x&gt;d</p>'
    );
  });
});

describe('a picture', () => {
  it('is drawn when it holds its own bytes', () => {
    const image = draw(`![plot](${PNG} "title")`).querySelector('img');
    expect(image?.getAttribute('src')).toBe(PNG);
    expect(image?.alt).toBe('plot');
    expect(image?.title).toBe('');
  });

  it('from elsewhere becomes a note with its host', () => {
    const root = draw('![cat](https://evil.test/c.png?q=secret)');
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toBe('catImage blocked: evil.testCopy address');
  });

  it('from a file or as another kind of data says so', () => {
    expect(draw('![](c.png)').textContent).toContain('Image blocked: a file');
    expect(draw('![](data:image/svg+xml,x)').textContent).toContain('Image blocked: data');
  });

  it('in a link becomes a note without a button in it', () => {
    const root = draw('[![x](http://evil.test/x.png)](http://good.test)');
    expect(root.querySelector('a')?.textContent).toBe('xImage blocked: evil.test');
    expect(root.querySelector('a button, img')).toBeNull();
  });

  it('is kept in a text that is too long to look into', async () => {
    const root = draw(`${'<b> '.repeat(15_000)}\n![plot](${PNG})`);
    const source = (): string | undefined => root.querySelector('img')?.src;
    await expect.poll(source, { timeout: 10_000 }).toBe(PNG);
    expect(root.textContent).toContain('<b> <b>');
  }, 20_000);
});

describe('a link', () => {
  const link = (text: string): HTMLAnchorElement | null => draw(text).querySelector('a');

  it('opens in another tab that knows nothing of this one', () => {
    const found = link('[docs](https://example.com/a "title")');
    expect(found?.outerHTML).toBe(
      '<a class="cw-md-link" href="https://example.com/a" target="_blank" ' +
        'rel="noopener noreferrer">docs</a>'
    );
  });

  it('shows its host when its text does not', () => {
    expect(draw('[docs](https://example.com/a)').textContent).toBe('docs (example.com)');
    expect(draw('[google.com](https://evil.test/)').textContent).toBe('google.com (evil.test)');
    expect(draw('[good.test](https://good.test.evil.test/)').textContent).toContain(
      '(good.test.evil.test)'
    );
    expect(draw('[https://good.test@evil.test](https://good.test@evil.test)').textContent).toBe(
      'https://good.test@evil.test (evil.test)'
    );
  });

  it('does not repeat a host that its text begins with', () => {
    expect(draw('https://example.com/a').textContent).toBe('https://example.com/a');
    expect(draw('[example.com](https://example.com/a)').textContent).toBe('example.com');
    expect(draw('<a@example.com>').textContent).toBe('a@example.com');
  });

  it('shows a look-alike host in ASCII', () => {
    expect(draw('[google.com](https://g\u043eogle.com/)').textContent).toBe(
      'google.com (xn--gogle-jye.com)'
    );
    expect(draw('https://g\u043eogle.com/').textContent).toContain('(xn--gogle-jye.com)');
  });

  it('has no signs that hide or reorder its text', () => {
    expect(draw('[\u202egnp\u200b.exe\u2066](https://example.com)').textContent).toBe(
      'gnp.exe (example.com)'
    );
  });

  it('without text shows its host', () => {
    expect(link('[](https://example.com)')?.textContent).toBe('example.com');
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](data:text/html,x)',
    '[x](/lab/tree/a.ipynb)',
    '[x](a.csv)',
    '[x](#part)',
    '[x](ftp://a.test/)'
  ])('to anything but the web or a mailbox is text: %s', text => {
    expect(draw(text).innerHTML).toBe('<p>x</p>');
  });

  it('is not made by reference', () => {
    expect(draw('[x][r] [r]\n\n[r]: https://evil.test/').querySelectorAll('a[href]')).toHaveLength(
      1 // the address itself, which can be read
    );
  });
});

it('fetches nothing when it draws pictures and links that it blocks', async () => {
  const root = draw(PAYLOADS.join('\n\n'));
  await waitFor(() => {
    expect(root.textContent).toContain('Image blocked');
  });
  for (const element of Array.from(root.querySelectorAll('[src], [href]'))) {
    const source = element.getAttribute('src');
    expect(source === null || source.startsWith('data:image/')).toBe(true);
  }
});
