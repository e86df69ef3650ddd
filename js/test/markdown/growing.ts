/** Texts as models write them, in pieces as they come. */
import { pick, seeded } from './chance';

/** One of each thing that a model writes. */
export const SAMPLE = `# Title

A **bold** start with \`code\`, *emphasis* and ~~no~~ more, see [docs](https://example.com/a_b).
Second line of the same paragraph with $x^2 + y_1$ and a price of $5 or $6.

1. one

2. two with **bold words that
   go on**
   - inner *item*
   - another

     with a paragraph
3. three

\`\`\`python
def f(x):
    return x ** 2  # \`\`\`not the end

print(f(2))
\`\`\`

| name | value |
|:-----|------:|
| a_b  | **1** |
| c    | \`2\`   |

> quoted *text*
> goes on
lazily

$$
\\frac{a}{b}
- c
$$

- [ ] to do
- [x] done

Some text
=========

\\[ E = mc^2 \\] and \\(a_1\\), then

    indented code

***

The end.
`;

/** A long answer of ordinary paragraphs, lists, tables and code. */
export function longAnswer(length: number): string {
  const random = seeded(1);
  const parts: string[] = [];
  let size = 0;
  while (size < length) {
    const part = `${pick(random, PARTS)(random)}\n\n`;
    parts.push(part);
    size += part.length;
  }
  return parts.join('').slice(0, length);
}

/** The text in so many pieces, each a little longer than the last. */
export function* growing(text: string, pieces: number): Generator<string> {
  for (let piece = 1; piece <= pieces; piece += 1) {
    yield text.slice(0, Math.ceil((text.length * piece) / pieces));
  }
}

const WORDS = 'the data frame has rows and `columns` with **some** values that *we* group by'.split(
  ' '
);

function words(random: () => number, count: number): string {
  return Array.from({ length: count }, () => pick(random, WORDS)).join(' ');
}

const PARTS: readonly ((random: () => number) => string)[] = [
  random => words(random, 60),
  random => words(random, 90),
  random => `## ${words(random, 5)}\n\n${words(random, 40)}`,
  random => Array.from({ length: 6 }, () => `- ${words(random, 12)}`).join('\n'),
  random =>
    `| a | b | c |\n|---|---|---|\n${Array.from(
      { length: 8 },
      () => `| ${words(random, 2)} | 1 | 2 |`
    ).join('\n')}`,
  random =>
    `\`\`\`python\n${Array.from({ length: 25 }, () => `x = df["${words(random, 1)}"].sum()`).join(
      '\n'
    )}\n\`\`\``,
  random => `${words(random, 20)} $x_${String(Math.floor(random() * 9))}^2$ ${words(random, 20)}`
];
