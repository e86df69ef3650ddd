/**
 * Types and lint rules in one go: both read the whole program, which takes longer than either.
 */

import { ESLint } from 'eslint';
import ts from 'typescript';

const config = ts.getParsedCommandLineOfConfigFile('js/tsconfig.check.json', undefined, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: diagnostic => {
    throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, ts.sys.newLine));
  }
});
const program = ts.createProgram({
  rootNames: config.fileNames,
  options: config.options,
  configFileParsingDiagnostics: config.errors
});
const diagnostics = ts.getPreEmitDiagnostics(program);
process.stdout.write(
  ts.formatDiagnosticsWithColorAndContext(diagnostics, {
    getCanonicalFileName: name => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => ts.sys.newLine
  })
);

const eslint = new ESLint({
  overrideConfig: {
    files: ['js/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: null, programs: [program] } }
  }
});
const results = await eslint.lintFiles(['js']);
const formatter = await eslint.loadFormatter('stylish');
process.stdout.write(await formatter.format(results));
const isWrong = diagnostics.length > 0 || results.some(result => result.errorCount > 0);
process.exitCode = isWrong ? 1 : 0;
