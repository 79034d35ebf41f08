import { z } from 'zod';
import { COUNT, SUCCESS } from '../../../../platform/validation/fields.ts';
import { DATASET_FORMATS } from '../../../../record/dataset/build-files.ts';
import { TABLE_NAMES } from '../../../../record/dataset/tables.ts';

const COLUMN = z.object({
  name: z.string().describe('Name in both formats'),
  type: z.enum(['string', 'int', 'double', 'boolean', 'date', 'timestamp']).describe('Type; in CSV dates and times are ISO 8601'),
  origin: z.enum(['record', 'prices']).describe("`record`: the record's own value; `prices`: derived from prices of venues"),
  description: z.string().describe('Meaning, with its unit'),
});

const FILE = z.object({
  format: z.enum(DATASET_FORMATS).describe('Format'),
  url: z.url().describe('Where it is served'),
  bytes: COUNT.describe('Size without compression in transfer, bytes'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of these bytes, hex'),
});

export const DATASET_INDEX = z.object({
  success: SUCCESS,
  title: z.string().describe('Title of the dataset'),
  version: z.string().describe('Version of tables and columns'),
  source: z.string().describe('Source of the market data of this record'),
  dataCard: z
    .array(z.object({ title: z.string().describe('Topic'), text: z.string().describe('Text') }))
    .describe('Content, collection, selection and limits of the data'),
  licence: z
    .object({
      id: z.string().describe('SPDX identifier'),
      url: z.url().describe('Text of the licence'),
      covers: z.string().describe('What it covers'),
      prices: z.string().describe('What is derived from prices of third parties'),
      attribution: z.string().describe('How to attribute'),
    })
    .describe("Licence of the record's own values"),
  tables: z
    .array(
      z.object({
        name: z.enum(TABLE_NAMES).describe('Name of the table'),
        title: z.string().describe('Title'),
        description: z.string().describe('What a row is'),
        rows: COUNT.describe('Rows'),
        columns: z.array(COLUMN).describe('Columns, in order'),
        files: z.array(FILE).describe('The table in each format'),
      }),
    )
    .describe('Tables'),
});
