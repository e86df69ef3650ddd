import { describe, expect, it } from 'vitest';

import { hostOf, safeLink, saysHost } from '../../src/markdown/links';

describe('safeLink', () => {
  // the table of tests/test_safe_markdown.py
  it.each([
    ['https://Example.COM:8080/a b?q=1#f', 'https://example.com:8080/ab?q=1#f', 'example.com'],
    ['http://user:pw@evil.test/x', 'http://evil.test/x', 'evil.test'],
    ['https://good.test@evil.test', 'https://evil.test/', 'evil.test'],
    ['mailto:a.b@example.com', 'mailto:a.b@example.com', 'a.b@example.com'],
    ['HTTPS://\u0430pple.com/', 'https://xn--pple-43d.com/', 'xn--pple-43d.com'],
    ['http://x.test/`"<>', 'http://x.test/%60%22%3C%3E', 'x.test'],
    ['http://\u200bx.test/\u202ea', 'http://x.test/a', 'x.test']
  ])('makes %j plain', (address, href, host) => {
    expect(safeLink(address)).toEqual({ href, host });
  });

  it.each([
    ...['', 'x', '//evil.test', 'ftp://x.test', 'http:x', 'http://', 'http://[::1]/'],
    ...['http://a:b/', 'mailto:a@b?subject=x', 'javascript:x', `http://${'a'.repeat(3000)}`],
    ...['http://a\u2044b.test..x/', 'java\nscript:x', 'https:/\\evil.test', 'data:,x', 'http:\\\\x']
  ])('makes no link of %j', address => {
    expect(safeLink(address)).toBeNull();
  });
});

it('names an address that is no link by its kind', () => {
  expect(hostOf('javascript:x')).toBe('javascript');
  expect(hostOf('../x.png')).toBe('');
  expect(hostOf('http://x.test/y')).toBe('x.test');
});

it.each([
  ['x.test', true],
  ['https://x.test/a', true],
  ['x.test:80', true],
  ['x.test.evil.test', false],
  ['see x.test', false],
  ['x.test@evil.test', false],
  ['\u0445.test', false]
])('knows whether %j says x.test', (text, expected) => {
  expect(saysHost(text, 'x.test')).toBe(expected);
});
