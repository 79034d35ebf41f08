import { z } from 'zod';
import type { RequestContext } from '../../auth/auth.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { COUNT, listOf, namedObject, objectOf, SUCCESS } from '../../platform/validation.ts';
import {
  DATA_CARD,
  DATASET_FORMATS,
  DATASET_LICENCE,
  DATASET_TITLE,
  DATASET_VERSION,
  type DatasetFormat,
  type StoredFile,
} from '../../record/dataset.ts';
import { DATASET_TABLES, TABLE_NAMES } from '../../record/dataset-tables.ts';
import { acceptsEncoding, toTaggedReply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const PATH = '/api/svc/dataset';

const MEDIA_TYPES: Record<DatasetFormat, string> = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' };

const DESCRIPTION =
  'Only forecasts with an outcome on chain, and no series of a provider. The files follow the record within seconds; `ETag` is the ' +
  'SHA-256 that the index lists.';

export function datasetRoutes(deps: Services): Route[] {
  return [
    route(`GET ${PATH}`, 'getDataset', {
      tag: 'record',
      reply: DATASET_INDEX,
      summary: 'The resolved record as files: data card, licence, columns, links and digests',
      description: DESCRIPTION,
      handle: async () => toTaggedReply(buildIndex(deps, await deps.dataset.listFiles())),
    }),
    fileRoute(deps, 'csv', { name: 'getDatasetCsv', summary: 'A table of the dataset as CSV' }),
    fileRoute(deps, 'parquet', { name: 'getDatasetParquet', summary: 'A table of the dataset as Apache Parquet' }),
  ];
}

function fileRoute({ dataset }: Services, format: DatasetFormat, { name, summary }: { name: string; summary: string }): Route {
  const mediaType = MEDIA_TYPES[format].split(';')[0];
  return route(`GET ${PATH}/{table}.${format}`, name, {
    tag: 'record',
    reply: null,
    alternatives: { [mediaType]: { description: 'The file.' } },
    summary,
    description: DESCRIPTION,
    params: z.object({ table: z.enum(TABLE_NAMES).describe('Name of the table') }),
    async handle({ params: { table }, context, header }) {
      const file = await dataset.getFile(table, format);
      const gzip = acceptsEncoding(header('Accept-Encoding') ?? '', 'gzip') ? file.gzip : null;
      const stored = gzip ?? file.identity;
      return {
        headers: {
          'Content-Type': MEDIA_TYPES[format],
          'Content-Disposition': `attachment; filename="${file.name}"`,
          // The digest of the content, whatever its coding.
          ETag: `W/"${file.sha256}"`,
          Vary: 'Accept-Encoding',
        },
        streamed: {
          bytes: stored.bytes,
          encoding: stored === file.identity ? null : 'gzip',
          read: () => readAdmitted(context, dataset.readChunks(stored)),
        },
      };
    },
  });
}

/** Each page is a unit of work, between which a client that reads slowly holds no capacity. */
async function* readAdmitted(context: RequestContext, pages: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (;;) {
    const page = await context.run(() => pages.next(), 'page');
    if (page.done === true) return;
    yield page.value;
  }
}

function buildIndex({ market, publicUrl }: Services, files: readonly StoredFile[]): z.input<typeof DATASET_INDEX> {
  return {
    success: true,
    title: DATASET_TITLE,
    version: DATASET_VERSION,
    source: market.source,
    dataCard: [...DATA_CARD],
    licence: DATASET_LICENCE,
    tables: TABLE_NAMES.map((name) => {
      const { title, description, columns } = DATASET_TABLES[name];
      const ofTable = files.filter(({ table }) => table === name);
      return {
        name,
        title,
        description,
        rows: ofTable[0].rows,
        columns: columns.map(({ name: column, type, origin = 'record' as const, description: meaning }) => ({
          name: column,
          type,
          origin,
          description: meaning,
        })),
        files: ofTable.map(({ name: file, format, identity: { bytes }, sha256 }) => ({
          format,
          url: joinUrl(publicUrl, `${PATH}/${file}`),
          bytes,
          sha256,
        })),
      };
    }),
  };
}

const DATASET_INDEX = namedObject('DatasetIndex', {
  success: SUCCESS,
  title: z.string().describe('Title of the dataset'),
  version: z.string().describe('Version of tables and columns'),
  source: z.string().describe('Source of the market data of this record'),
  dataCard: listOf('Content, collection, selection and limits of the data', {
    title: z.string().describe('Topic'),
    text: z.string().describe('Text'),
  }),
  licence: objectOf("Licence of the record's own values", {
    id: z.string().describe('SPDX identifier'),
    url: z.url().describe('Text of the licence'),
    covers: z.string().describe('What it covers'),
    prices: z.string().describe('What is derived from prices of third parties'),
    attribution: z.string().describe('How to attribute'),
  }),
  tables: listOf('Tables', {
    name: z.enum(TABLE_NAMES).describe('Name of the table'),
    title: z.string().describe('Title'),
    description: z.string().describe('What a row is'),
    rows: COUNT.describe('Rows'),
    columns: listOf('Columns, in order', {
      name: z.string().describe('Name in both formats'),
      type: z.enum(['string', 'int', 'double', 'boolean', 'date', 'timestamp']).describe('Type; in CSV dates and times are ISO 8601'),
      origin: z.enum(['record', 'prices']).describe("`record`: the record's own value; `prices`: derived from prices of venues"),
      description: z.string().describe('Meaning, with its unit'),
    }),
    files: listOf('The table in each format', {
      format: z.enum(DATASET_FORMATS).describe('Format'),
      url: z.url().describe('Where it is served'),
      bytes: COUNT.describe('Size without compression in transfer, bytes'),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('SHA-256 of these bytes, hex'),
    }),
  }),
});
