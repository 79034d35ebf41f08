import { open, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import { OracleError, UsageError } from '../../../errors.ts';
import { downloadFromService } from '../../../platform/service-client.ts';
import {
  JSON_OPTION,
  parseChoice,
  printJson,
  printNotice,
  printResult,
  queryService,
  resolveServiceUrl,
  type ServiceValues,
  URL_OPTION,
} from '../command.ts';
import { EXIT, type SvcCommand } from '../context.ts';
import { formatFacts, formatRecords, type RecordColumn, type TerminalWriter, wrapText } from '../text.ts';

const PATH = '/api/svc/dataset';
const FORMATS = ['csv', 'parquet'] as const;
const DEADLINE_MS = 300_000;
/** More than a century of the record. */
const MAX_BYTES = 2 ** 28;

const FILE = z.object({ format: z.string(), bytes: z.number(), sha256: z.string() });
const TABLE = z.object({ name: z.string().regex(/^[a-z]{1,40}$/), title: z.string(), rows: z.number(), files: z.array(FILE) });
const INDEX = z.object({
  title: z.string(),
  source: z.string(),
  dataCard: z.array(z.object({ title: z.string(), text: z.string() })),
  licence: z.object({ id: z.string(), covers: z.string(), prices: z.string() }),
  tables: z.array(TABLE),
});

type DatasetIndex = z.infer<typeof INDEX>;
type DatasetFormat = (typeof FORMATS)[number];

interface DatasetValues extends ServiceValues {
  table?: string;
  format?: DatasetFormat;
  out?: string;
}

interface Download {
  url: string;
  path: `/${string}`;
  /** As the index of the service says. */
  sha256: string;
}

export const datasetCommand: SvcCommand<DatasetValues> = {
  example: 'svc dataset --table forecasts --format parquet --out forecasts.parquet',
  description: `Without --table it prints the data card, the licence and the tables. A download is compared with the SHA-256 of the index.`,
  options: [
    ['--table <name>', 'table to download', undefined, ['forecasts', 'scores', 'inputs']],
    ['--format <format>', 'of the file (default: csv)', (name, value) => parseChoice(name, value, FORMATS), FORMATS],
    ['--out <file>', 'file to write (default: standard output; required for parquet)'],
    URL_OPTION,
    JSON_OPTION,
  ],
  async run(context, { table, format = 'csv', out, json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    if (table === undefined && out !== undefined) throw new UsageError('--table', 'is required with --out');
    if (table !== undefined) requireFile({ out, format, json });
    const { answer, body } = await queryService({ url, path: PATH, schema: INDEX });
    if (table === undefined) {
      printResult(context, json, body, (writer) => formatIndex(answer, writer));
      return EXIT.ok;
    }
    const download = findDownload(answer, { url, table, format });
    if (out === undefined) {
      const decoder = new TextDecoder();
      await receive(download, (chunk) => context.out.write(decoder.decode(chunk, { stream: true })));
      return EXIT.ok;
    }
    await writeToFile(download, out);
    if (json) printJson(context, { file: out, table, format, sha256: download.sha256 });
    else printNotice(context, `${out}: SHA-256 ${download.sha256}, as the service lists it`);
    return EXIT.ok;
  },
};

function requireFile({ out, format, json }: DatasetValues): void {
  if (out !== undefined) return;
  if (format === 'parquet') throw new UsageError('--out', 'Parquet is binary: name a file');
  if (json) throw new UsageError('--out', 'is required with --table and --json: the table is CSV, and the JSON has its digest');
}

function findDownload({ tables }: DatasetIndex, { url, table, format }: { url: string; table: string; format: DatasetFormat }): Download {
  const found = tables.find(({ name }) => name === table);
  if (found === undefined) throw new UsageError('--table', `must be one of ${tables.map(({ name }) => name).join(', ')}`);
  const file = found.files.find((one) => one.format === format);
  if (file === undefined) throw new OracleError('NOT_FOUND', `The service has no ${format} of the table ${table}`);
  return { url, path: `${PATH}/${found.name}.${format}`, sha256: file.sha256 };
}

/** @throws OracleError INTERNAL when the bytes are not those of the index */
async function receive({ url, path, sha256 }: Download, write: (chunk: Uint8Array) => Promise<unknown> | unknown): Promise<void> {
  const chunks = downloadFromService({ url, path, token: undefined, deadlineMs: DEADLINE_MS, maxBytes: MAX_BYTES });
  let part = await chunks.next();
  for (; !part.done; part = await chunks.next()) await write(part.value);
  if (part.value === sha256) return;
  throw new OracleError('INTERNAL', `The download of ${path} is not the file of the index: its SHA-256 is ${part.value}`, {
    suggestedAction: 'The record may have grown meanwhile: try again.',
  });
}

/** The file appears whole, and only after its digest was checked. */
async function writeToFile(download: Download, path: string): Promise<void> {
  const partial = `${path}.part`;
  try {
    const file = await open(partial, 'w');
    await receive(download, (chunk) => file.appendFile(chunk)).finally(() => file.close());
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new UsageError('--out', `${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function formatIndex({ title, source, dataCard, licence, tables }: DatasetIndex, writer: TerminalWriter): string[] {
  return [
    writer.paint('bold', title),
    '',
    ...formatFacts([['Data', source], ...dataCard.map((card): [string, string] => [card.title, card.text])], writer),
    '',
    ...wrapText(`Licence ${licence.id}. ${licence.covers} ${licence.prices}`, writer.width),
    '',
    ...formatRecords(TABLE_COLUMNS, tables, writer),
  ];
}

const getBytes = ({ files }: z.infer<typeof TABLE>, format: DatasetFormat) =>
  String(files.find((file) => file.format === format)?.bytes ?? '-');

const TABLE_COLUMNS: readonly RecordColumn<z.infer<typeof TABLE>>[] = [
  { title: 'table', cell: ({ name }) => name },
  { title: 'content', spare: 0, cell: ({ title }) => title },
  { title: 'rows', right: true, cell: ({ rows }) => String(rows) },
  { title: 'CSV bytes', right: true, cell: (table) => getBytes(table, 'csv') },
  { title: 'Parquet bytes', right: true, cell: (table) => getBytes(table, 'parquet') },
];
