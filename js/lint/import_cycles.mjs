/**
 * The rule against import cycles, types included. It asks the program that types are checked with, which has every
 * import resolved; eslint-plugin-import-x reads all files again, which took 13 CPU seconds.
 */

import ts from 'typescript';

const edges = new WeakMap();

/** The specifiers of what a file imports: values or types, at once or later. */
function importedSpecifiers(file) {
  const found = [];
  ts.forEachChild(file, function visit(node) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      found.push(node.moduleSpecifier);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      found.push(node.arguments[0]);
    } else if (ts.isImportTypeNode(node)) {
      found.push(node.argument.literal);
    }
    ts.forEachChild(node, visit);
  });
  return found.filter(specifier => specifier !== undefined);
}

/** What a file of ours imports of ours, each with the specifier that says so. */
function importedFiles(program, file) {
  if (!edges.has(file)) {
    const checker = program.getTypeChecker();
    const imported = importedSpecifiers(file).map(specifier => ({
      specifier,
      file: checker.getSymbolAtLocation(specifier)?.valueDeclaration?.getSourceFile()
    }));
    const isOurs = found => found && !program.isSourceFileFromExternalLibrary(found);
    edges.set(
      file,
      imported.filter(edge => isOurs(edge.file))
    );
  }
  return edges.get(file);
}

/** The shortest way of imports from a file back to it; undefined when there is none. */
function wayBack(program, start) {
  const ways = new Map([[start, []]]);
  for (const [file, way] of ways) {
    for (const edge of importedFiles(program, file)) {
      if (edge.file === start) {
        return [...way, edge];
      }
      if (!ways.has(edge.file)) {
        ways.set(edge.file, [...way, edge]);
      }
    }
  }
  return undefined;
}

/** No file may import itself, by whatever way: files that need each other are one idea. */
export const importCycles = {
  meta: { type: 'problem', messages: { cycle: 'This import leads back here: {{way}}.' } },
  create: context => ({
    Program(node) {
      const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
      const way = wayBack(program, esTreeNodeToTSNodeMap.get(node));
      if (way) {
        const [start, end] = [way[0].specifier.getStart(), way[0].specifier.getEnd()];
        context.report({
          loc: {
            start: context.sourceCode.getLocFromIndex(start),
            end: context.sourceCode.getLocFromIndex(end)
          },
          messageId: 'cycle',
          data: { way: way.map(edge => edge.specifier.text).join(' → ') }
        });
      }
    }
  })
};
