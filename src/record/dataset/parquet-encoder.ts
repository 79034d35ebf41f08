import type { SchemaElement } from 'hyparquet-writer';
import { OracleError } from '../../platform/errors.ts';
import type { CellValue, ColumnType, DatasetColumn, TableEncoder } from './table.ts';

const ELEMENTS: Record<ColumnType, Omit<SchemaElement, 'name'>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
};

/** Each batch is a row group; all columns are optional. @param metadata key-value pairs of the file's footer */
export async function createParquetEncoder<Row>(
  columns: readonly DatasetColumn<Row>[],
  metadata: Readonly<Record<string, string>>,
): Promise<TableEncoder<Row>> {
  // Imported on demand: only a process that builds the files needs it.
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] })),
    ],
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    createdBy: 'bitcoin-signal-oracle',
  });
  return {
    add(rows) {
      if (rows.length === 0) return;
      const columnData = columns.map(({ name, type, value }) => ({ name, data: rows.map((row) => toParquet(type, value(row))) }));
      requireDone(file.write({ columnData, rowGroupSize: rows.length }));
    },
    finish() {
      requireDone(file.finish());
      return Buffer.from(bytes.getBytes());
    },
  };
}

function toParquet(type: ColumnType, value: CellValue): CellValue | undefined {
  if (value === null) return undefined;
  return type === 'date' ? new Date(value as string) : value;
}

/** Writing into memory is synchronous. */
function requireDone(written: void | Promise<void>): void {
  if (written !== undefined) throw new OracleError('INTERNAL', 'The Parquet writer did not finish at once');
}
