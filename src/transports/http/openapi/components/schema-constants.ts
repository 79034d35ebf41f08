import { z } from 'zod';
import { ADDRESS, BYTES32, DECIMAL } from '../../../../platform/validation/fields.ts';
import { toPascalCase } from './pascal-case.ts';
import { SCHEMA_MODULES } from './schema-modules.ts';

/** Scalar schemas with names for code generators. */
const FIELDS: [z.ZodType, string][] = [
  [BYTES32, 'Bytes32'],
  [ADDRESS, 'Address'],
  [DECIMAL, 'Decimal'],
];

/** `WEEKLY_REPORT` becomes `WeeklyReport`. `.meta({ id })` would turn the schemas of MCP tools into references. */
const NAMES: ReadonlyMap<z.ZodType, string> = new Map([...SCHEMA_MODULES.flatMap(listSchemaNames), ...FIELDS]);

function listSchemaNames(module: object): [z.ZodType, string][] {
  return Object.entries(module).flatMap(([constant, value]) => (value instanceof z.ZodType ? [[value, toComponentName(constant)]] : []));
}

function toComponentName(constant: string): string {
  return toPascalCase(constant.toLowerCase())
    .replace(/Reply$/, 'Response')
    .replace(/Body$/, 'Request');
}

/** Name of a schema, or of the schema that `.describe()` derived it from. */
export function findConstantName(schema: z.core.$ZodType): string | undefined {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const name = NAMES.get(one as z.ZodType);
    if (name !== undefined) return name;
  }
  return undefined;
}
