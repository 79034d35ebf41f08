import { globSync } from 'node:fs';
import { resolve } from 'node:path';

const SOURCES = resolve(import.meta.dirname, '../../../..');

const PATTERNS = ['record/schemas/*.ts', 'transports/http/**/{schemas,*-schemas}.ts'];

/** Absolute paths of all modules of schemas, in an order that decides between two names of one schema. */
export function listSchemaPaths(): string[] {
  return PATTERNS.flatMap((pattern) => globSync(pattern, { cwd: SOURCES }).sort()).map((path) => resolve(SOURCES, path));
}
