/** The English texts that the sources hand to a translator. */
import ts from 'typescript';

const TRANSLATING = new Set(['__', '_n']);

/** The first argument of each call; of a plural, the singular. */
export function stringsIn(source: string): readonly string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTranslation(node.expression)) {
      const [text] = node.arguments;
      if (text !== undefined && ts.isStringLiteralLike(text)) {
        found.push(text.text);
      }
    }
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('source.tsx', source, ts.ScriptTarget.Latest));
  return found;
}

function isTranslation(called: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(called) && TRANSLATING.has(called.name.text);
}
