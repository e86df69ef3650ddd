/**
 * Writes the types and schemas of the page from `openapi.json`, which Python writes: `make wire`.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import openapiTS, { astToString, stringToAST } from 'openapi-typescript';
import prettier from 'prettier';

const DOCUMENT = join(import.meta.dirname, 'openapi.json');
const GENERATED = join(import.meta.dirname, '../src/wire/generated.ts');

const HEAD = `// Made by \`make wire\` from the classes that the server has; do not edit.
/* eslint-disable */
`;

const OWN_TYPES = `
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, Json>;
/** The part of JSON Schema that the wire is described in. */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null';
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly default?: unknown;
}
export type SchemaTypes = components['schemas'];
`;

/** `Json` for what may be anything, and `JsonObject` for what has any fields. */
function anyJson(schema) {
  if (schema.additionalProperties === true) {
    return stringToAST('type T = JsonObject')[0].type;
  }
  const says = Object.keys(schema).filter(key => !['description', 'default'].includes(key));
  return says.length === 0 ? stringToAST('type T = Json')[0].type : undefined;
}

/** A schema without the words for people. */
function bare(schema, isNamed = false) {
  if (Array.isArray(schema)) {
    return schema.map(item => bare(item));
  }
  if (typeof schema !== 'object' || schema === null) {
    return schema;
  }
  const kept = Object.entries(schema).filter(([key]) => isNamed || key !== 'description');
  return Object.fromEntries(
    kept.map(([key, value]) => [key, bare(value, !isNamed && key === 'properties')])
  );
}

/** A schema of what comes, as it is once it was checked: what was left out has its default. */
function complete(schema) {
  const given = Object.entries(schema.properties ?? {});
  const defaults = given.filter(([, field]) => 'default' in field).map(([name]) => name);
  const fields = given.map(([name, { default: _, ...field }]) => [name, field]);
  const required = [...(schema.required ?? []), ...defaults];
  return given.length === 0
    ? schema
    : { ...schema, properties: Object.fromEntries(fields), required };
}

/** The file, from the text of the document. */
export async function generate(text) {
  const document = JSON.parse(text);
  const all = Object.entries(document.components.schemas);
  const completed = Object.fromEntries(all.map(([name, schema]) => [name, complete(schema)]));
  const source = { ...document, components: { schemas: completed } };
  const types = await openapiTS(source, {
    immutable: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    inject: OWN_TYPES,
    transform: anyJson
  });
  const received = all.filter(([, { writeOnly }]) => !writeOnly);
  const schemas = JSON.stringify(bare(Object.fromEntries(received), true));
  const checked = `/** Both sides speak the same one. */
export const PROTOCOL = ${document.info['x-protocol']};
/** What is checked when it comes. */
export const SCHEMAS: Readonly<Record<string, Schema>> = ${schemas};`;
  const style = await prettier.resolveConfig(GENERATED);
  const written = [HEAD, astToString(types), checked].join('\n');
  return prettier.format(written, { ...style, filepath: GENERATED });
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(GENERATED, await generate(await readFile(DOCUMENT, 'utf8')));
}
